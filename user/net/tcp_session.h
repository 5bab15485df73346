// SPDX-License-Identifier: BSD-2-Clause
// One sender at a collector, over TCP.
#pragma once

#include "user/net/handshake.h"
#include "user/net/message.h"
#include "user/net/trace_sink.h"

#include <memory>
#include <string>
#include <string_view>

namespace ovnitrace {

/// Takes the bytes that come on a connection and gives those that are to go out; knows no socket.
/// Whatever comes, it ends in ended(), with error() where something was wrong; what was taken until
/// then is a readable trace.
class TcpSession {
public:
  TcpSession(const std::string &key, MakeTraceSink make_sink);

  void receive(std::string_view bytes);
  /// The connection is gone.
  void disconnect();
  /// Ends it from this side.
  void refuse(const std::string &why);

  std::string &output() { return output_; } ///< to be taken away as it is sent
  bool ended() const { return ended_; } ///< nothing more is read; the connection is to be closed
  bool introduced() const { return bool(sink_); }
  bool complete() const { return complete_; } ///< all of it came and is written
  const std::string &error() const { return error_; }
  const TraceSink *sink() const { return sink_.get(); } ///< null before introduced()

private:
  void give_up(const std::string &why);
  void handle(const Message &message);
  void introduce(std::string_view identify);
  void append(const Message &message);
  void end(std::string_view payload);

  CollectorHandshake handshake_;
  const MakeTraceSink make_sink_;
  MessageWriter writer_;
  MessageParser parser_;
  std::unique_ptr<TraceSink> sink_;
  std::string output_, error_;
  bool described_ = false; ///< by a trace.json that came whole
  bool ended_ = false, complete_ = false;
};

} // namespace ovnitrace
