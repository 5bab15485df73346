// SPDX-License-Identifier: BSD-2-Clause
// Talks with one sender at a collector, over TCP.
#pragma once

#include "user/net/message.h"
#include "user/net/trace_sink.h"

#include <memory>
#include <string>
#include <string_view>

namespace ovnitrace {

/// Takes the bytes that come on a connection and returns those to send; it knows no socket.
/// Whatever comes, it ends in ended(), with error() if something was wrong or is missing. What was
/// taken until then is a readable trace.
class TcpSession {
public:
  explicit TcpSession(MakeTraceSink make_sink);

  void receive(std::string_view bytes);
  /// Ends the session: the connection is gone. `why`: what failed; empty if the sender closed it.
  void disconnect(const std::string &why = "");
  /// Ends the session from this side.
  void refuse(const std::string &why);

  std::string &output() { return output_; } ///< to be taken away as it is sent
  const std::string &output() const { return output_; }
  bool ended() const { return ended_; } ///< nothing more is read; the connection is to be closed
  bool introduced() const { return bool(sink_); }
  bool described() const { return described_; } ///< by a trace.json that came whole
  bool complete() const { return complete_; }   ///< all of it is written, and nothing is missing
  const std::string &error() const { return error_; }
  const TraceSink *sink() const { return sink_.get(); } ///< null before introduced()

private:
  void give_up(const std::string &why);
  void handle(const Message &message);
  void introduce(std::string_view identify);
  void append(const Message &message);
  void end(std::string_view payload);

  const MakeTraceSink make_sink_;
  MessageParser parser_;
  std::unique_ptr<TraceSink> sink_;
  std::string output_, error_;
  bool described_ = false, ended_ = false, complete_ = false;
};

} // namespace ovnitrace
