// SPDX-License-Identifier: BSD-2-Clause
// The sender's end of a TCP connection to a collector.
#pragma once

#include "emulator/base/unique_fd.h"
#include "user/net/endpoint.h"
#include "user/net/message.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace ovnitrace {

/// Connected, and the collector has accepted the trace. Every call waits while the collector is
/// slow and gives up when nothing moves for a minute. For one thread at a time. A call that throws
/// Error closes it.
class TcpLink {
public:
  static constexpr uint64_t kPatience = 60'000'000'000; ///< ns

  /// Connects and introduces the trace `name`. `key`: empty without one. `patience`: ns in which
  /// the collector must take something, or say all of what is waited for. Throws Error.
  TcpLink(const Endpoint &endpoint, const std::string &key, const std::string &name,
          uint64_t patience = kPatience);

  /// Throws Error, with the collector's own words if it refused.
  void send(MessageType type, std::string_view payload, std::string_view more = {});
  /// Waits for a message of this type; gives its payload. Throws Error.
  std::string receive(MessageType type);

  bool open() const { return bool(fd_); }
  const std::string &directory() const { return directory_; } ///< as the collector names it
  std::string collector() const { return endpoint_.text(); }

private:
  void introduce(const std::string &key, const std::string &name);
  void wait(short events);
  void take_input();
  void check_input();
  void check_refusal(const Message &message) const;
  [[noreturn]] void fail(const std::string &why);

  const Endpoint endpoint_;
  const uint64_t patience_; ///< ns
  uint64_t since_ = 0; ///< ns: when it last took something, or when the waiting for a message began
  UniqueFd fd_;
  MessageWriter writer_;
  MessageParser parser_;
  std::string directory_;
};

} // namespace ovnitrace
