// SPDX-License-Identifier: BSD-2-Clause
// Says how a capture goes, while it goes on.
#pragma once

#include <cstdint>
#include <string>

namespace ovnitrace {

/// What a capture has done so far.
struct CaptureStatus {
  uint64_t time = 0;         ///< ns, CLOCK_MONOTONIC
  uint64_t elapsed = 0;      ///< ns since the capture began
  uint64_t events = 0;       ///< logged in the kernel, lost ones included
  uint64_t lost = 0;         ///< of them, found no room
  uint64_t bytes = 0;        ///< written or sent; of a flight recorder: kept in memory
  uint32_t fullest_ring = 0; ///< per mille of the ring that was fullest since the last status
  uint64_t threads = 0;      ///< that were seen
  bool paused = false;
};

/// Answers `ovnitrace ctl status --json`: a line. `regions`: what --control says of its regions;
/// empty: nothing.
std::string json_of(const CaptureStatus &status, const std::string &regions);
/// Answers `ovnitrace ctl status`: a line.
std::string text_of(const CaptureStatus &status);

/// Makes a line of text of each status. For one thread.
class StatusLine {
public:
  /// `begin`: ns, when the capture began.
  explicit StatusLine(uint64_t begin) : last_time_(begin) {}

  /// Returns one line. After the first loss, a second line says what to do.
  std::string next(const CaptureStatus &status);

private:
  uint64_t last_time_; ///< ns
  uint64_t last_events_ = 0;
  bool has_lost_ = false;
};

} // namespace ovnitrace
