// SPDX-License-Identifier: BSD-2-Clause
// How far a long conversion is, on a terminal only.
#pragma once

#include "emulator/input/source.h"

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace ovnitrace {

/// One line on stderr that is drawn again and again, and gone in the end.
class ProgressBar {
public:
  /// `to`: where reading ends, ns from the start of the trace.
  explicit ProgressBar(const Catalog &catalog, uint64_t to = UINT64_MAX)
      : begin_(catalog.begin), length_(std::min(catalog.end - catalog.begin, to)) {}
  ~ProgressBar();
  ProgressBar(const ProgressBar &) = delete;
  ProgressBar &operator=(const ProgressBar &) = delete;

  /// What keeps it up to date, while it lives; empty where stderr is no terminal.
  Progress progress();

  /// How much of all is done, from 0 to 1, where `time` is reached.
  double part(uint64_t time) const;

private:
  void update(uint64_t time, uint64_t events);

  using Clock = std::chrono::steady_clock;
  const uint64_t begin_, length_; ///< ns, of what is read of the trace
  bool drawn_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point next_ = start_ + std::chrono::milliseconds(300); ///< short ones need none
};

} // namespace ovnitrace
