// SPDX-License-Identifier: BSD-2-Clause
// Shows on a terminal how far a long conversion is.
#pragma once

#include "emulator/input/read_watcher.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

namespace ovnitrace {

/// A line on stderr that is redrawn, and removed at the end.
class ProgressBar {
public:
  /// `to`: the end of reading, ns from the start of the trace.
  explicit ProgressBar(const Catalog &catalog, uint64_t to = UINT64_MAX)
      : begin_(catalog.begin), length_(std::min(catalog.end - catalog.begin, to)) {}
  ~ProgressBar();
  ProgressBar(const ProgressBar &) = delete;
  ProgressBar &operator=(const ProgressBar &) = delete;

  /// Returns the part of the work, from 0 to 1, that is done when `time` is reached.
  double part(uint64_t time) const;

  /// Draws it again, now and then. `time`: of the last event that was read; `events`: how many
  /// were.
  void update(uint64_t time, uint64_t events);

private:
  using Clock = std::chrono::steady_clock;
  const uint64_t begin_, length_; ///< ns: of what is read of the trace
  bool drawn_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point next_ = start_ + std::chrono::milliseconds(300); ///< short work needs no bar
};

/// Shows on a terminal how far traces are read, while it lives. One at a time.
class ReadingProgress final : public ReadWatcher {
public:
  /// `shown`: otherwise it does nothing. `to`: as for ProgressBar.
  explicit ReadingProgress(bool shown = true, uint64_t to = UINT64_MAX);
  ~ReadingProgress() override;
  ReadingProgress(const ReadingProgress &) = delete;
  ReadingProgress &operator=(const ReadingProgress &) = delete;

  void reads(const Catalog &catalog, uint64_t time, uint64_t events) override;
  void ends() override;

private:
  const uint64_t to_;
  std::optional<ProgressBar> bar_;
  uint64_t events_ = 0;
};

} // namespace ovnitrace
