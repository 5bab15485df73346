// SPDX-License-Identifier: BSD-2-Clause
// How far a long conversion is, on a terminal only.
#pragma once

#include "emulator/input/source.h"

#include <chrono>
#include <cstdint>

namespace ovnitrace {

/// One line on stderr that is drawn again and again, and gone in the end.
class ProgressBar {
public:
  ProgressBar();
  ~ProgressBar();
  ProgressBar(const ProgressBar &) = delete;
  ProgressBar &operator=(const ProgressBar &) = delete;

  bool shown() const { return shown_; } ///< whether stderr is a terminal
  void update(const EventSource &source, uint64_t events);

private:
  using Clock = std::chrono::steady_clock;
  bool shown_;
  bool drawn_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point next_ = start_ + std::chrono::milliseconds(300); ///< short ones need none
};

} // namespace ovnitrace
