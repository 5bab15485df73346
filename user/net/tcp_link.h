// SPDX-License-Identifier: BSD-2-Clause
// Connects a sender to a collector over TCP.
#pragma once

#include "emulator/base/clock.h"
#include "emulator/base/unique_fd.h"
#include "user/net/endpoint.h"
#include "user/net/message.h"
#include "user/net/secure_channel.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace ovnitrace {

/// Is connected to a collector that has accepted the trace. Every call waits while the collector is
/// slow, and gives up when nothing moves for a minute. A call that throws Error closes the
/// connection. For one thread at a time, except end_by().
class TcpLink {
public:
  using Clock = std::function<uint64_t()>; ///< ns, CLOCK_MONOTONIC

  /// Connects and introduces the trace `name`. `check` is called now and then meanwhile; what it
  /// throws ends the attempt. Throws Error.
  TcpLink(const Endpoint &endpoint, const std::optional<PresharedKey> &key, const std::string &name,
          const std::function<void()> &check = {}, Clock now = monotonic_ns);

  /// Throws Error, with the collector's own words if it refused.
  void send(MessageType type, std::string_view payload, std::string_view more = {});
  /// Waits for a message of this type, and returns its payload. Throws Error.
  std::string receive(MessageType type);
  /// Ends the current call with an Error soon after `time` (ns, CLOCK_MONOTONIC; 0: now), even if
  /// it goes well. Any thread may call it meanwhile, and a signal handler.
  void end_by(uint64_t time) noexcept { end_by_ = time; }

  bool open() const { return channel_.open(); }
  const std::string &directory() const { return directory_; } ///< as the collector names it
  std::string collector() const { return endpoint_.text(); }

private:
  template <typename Talk> auto talk(const Talk &talk);
  bool wait(short events);
  void take_input();
  std::optional<Message> next_message();

  const Endpoint endpoint_;
  const Clock now_;
  uint64_t since_ = 0; ///< ns: when it last took something, or when the waiting for a message began
  std::atomic<uint64_t> end_by_ = UINT64_MAX; ///< ns
  std::function<void()> check_;               ///< while it introduces the trace; may be none
  bool checked_ = true;                       ///< false: check_ has thrown
  SecureChannel channel_;
  MessageParser parser_;
  unsigned empty_reads_ = 0; ///< input that held nothing for us
  std::string directory_;
};

} // namespace ovnitrace
