// SPDX-License-Identifier: BSD-2-Clause
// Divides a column that shows several states.
#pragma once

#include "emulator/plot/figure.h"

#include <array>

namespace ovnitrace {

/// The states that are stacked at the bottom of a column, lowest first. They are visible however
/// short they were.
inline constexpr std::array kStacked = {ShownState::running, ShownState::cooling,
                                        ShownState::warming, ShownState::throttled};

inline uint64_t all_of(const StateTimes &time) {
  uint64_t sum = 0;
  for (const uint64_t ns : time)
    sum += ns;
  return sum;
}

/// Returns the state for the rest of a column: the largest one that is not stacked.
inline ShownState rest_of(const StateTimes &time) {
  ShownState most = ShownState::paused;
  for (const ShownState state : {ShownState::unknown, ShownState::dead})
    if (time[size_t(state)] > time[size_t(most)])
      most = state;
  return most;
}

} // namespace ovnitrace
