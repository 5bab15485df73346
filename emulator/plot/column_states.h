// SPDX-License-Identifier: BSD-2-Clause
// Divides a column that shows several states.
#pragma once

#include "emulator/plot/figure.h"

#include <algorithm>
#include <array>
#include <functional>

namespace ovnitrace {

/// The states that are stacked at the bottom of a column, lowest first. They are visible however
/// short they were.
inline constexpr auto kStacked = [] {
  constexpr size_t size =
      std::count_if(kStateTable.begin(), kStateTable.end(), std::mem_fn(&StateInfo::stacked));
  std::array<ShownState, size> stacked{};
  std::copy_if(kStateOrder.begin(), kStateOrder.end(), stacked.begin(),
               [](ShownState state) { return info_of(state).stacked; });
  return stacked;
}();
static_assert(kStacked[0] == ShownState::running);

inline uint64_t all_of(const StateTimes &time) {
  uint64_t sum = 0;
  for (const uint64_t ns : time)
    sum += ns;
  return sum;
}

/// Returns the state for the rest of a column: the largest one that is not stacked.
inline ShownState rest_of(const StateTimes &time) {
  ShownState most = ShownState::paused;
  for (const ShownState state : kStateOrder)
    if (!info_of(state).stacked && time[size_t(state)] > time[size_t(most)])
      most = state;
  return most;
}

} // namespace ovnitrace
