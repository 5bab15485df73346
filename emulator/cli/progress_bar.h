// SPDX-License-Identifier: BSD-2-Clause
// Shows on a terminal how far long work on a trace is.
#pragma once

#include "emulator/input/read_watcher.h"

#include <chrono>
#include <cstdint>
#include <string>

namespace ovnitrace {

/// Returns the part, from 0 to 1, of a trace that is read when `time` (ns, absolute) is reached.
/// `to`: where reading ends, ns from the start of the trace.
double part_read(const Catalog &catalog, uint64_t to, uint64_t time);

/// A line on stderr that is redrawn while the object lives, and removed after each pass over a
/// trace. One at a time. Does nothing if stderr is no terminal.
class ProgressBar final : public ReadWatcher {
public:
  /// `shown`: otherwise it does nothing. `to`: as for part_read().
  explicit ProgressBar(bool shown = true, uint64_t to = UINT64_MAX);
  ~ProgressBar() override;
  ProgressBar(const ProgressBar &) = delete;
  ProgressBar &operator=(const ProgressBar &) = delete;

  void reads(const Catalog &catalog, uint64_t time, uint64_t events) override;
  void walks(double part) override;
  void ends() override;

private:
  using Clock = std::chrono::steady_clock;
  bool is_due(Clock::time_point now);
  void draw(double part, const std::string &what);

  const uint64_t to_;
  bool begun_ = false, drawn_ = false; ///< this pass
  uint64_t events_ = 0;                ///< of this pass
  Clock::time_point start_, next_;     ///< of this pass; when to draw
};

} // namespace ovnitrace
