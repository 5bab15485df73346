// SPDX-License-Identifier: BSD-2-Clause
// How a column that stands for several states is divided.
#pragma once

#include "emulator/plot/figure.h"

#include <array>

namespace ovnitrace {

/// The states that are drawn at the bottom of a column, from there: each is seen however short it
/// was.
inline constexpr std::array kStacked = {ShownState::running, ShownState::cooling,
                                        ShownState::warming, ShownState::throttled};

inline uint64_t all_of(const StateTimes &time) {
  uint64_t sum = 0;
  for (const uint64_t ns : time)
    sum += ns;
  return sum;
}

/// The largest of what is not stacked: what the rest of a column shows.
inline ShownState rest_of(const StateTimes &time) {
  ShownState most = ShownState::paused;
  for (const ShownState state : {ShownState::unknown, ShownState::dead})
    if (time[size_t(state)] > time[size_t(most)])
      most = state;
  return most;
}

} // namespace ovnitrace
