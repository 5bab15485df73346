// SPDX-License-Identifier: BSD-2-Clause
// A bad network between a sender and a collector.
#pragma once

#include <cstdint>
#include <string>
#include <thread>

namespace ovnitrace::test {

/// Passes datagrams of ovnitrace on, but drops some, repeats some and holds some back for a few
/// others. What reports the end of a session always comes, and last.
class LossyRelay {
public:
  explicit LossyRelay(const std::string &collector); ///< udp://127.0.0.1:PORT
  ~LossyRelay();

  const std::string &url() const { return url_; } ///< for --send
  /// After all senders have ended: when what came was passed on.
  void stop();
  // After stop():
  uint64_t dropped() const { return dropped_; }
  uint64_t repeated() const { return repeated_; }

private:
  void run();

  int in_ = -1, out_ = -1, stop_ = -1;
  std::string url_;
  uint64_t dropped_ = 0, repeated_ = 0;
  std::thread thread_;
};

} // namespace ovnitrace::test
