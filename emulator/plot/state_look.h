// SPDX-License-Identifier: BSD-2-Clause
// How pictures show a state, and how a column that stands for several states is divided.
#pragma once

#include "emulator/plot/figure.h"

#include <array>

namespace ovnitrace {

struct StateLook {
  Look state;
  char plain; ///< of a column that is mostly in it, where there are no colours
  const char *meaning;
};

/// In the order of legends.
inline constexpr std::array<StateLook, kLooks> kStateLooks = {{
    {Look::running, '#', "on a CPU"},
    {Look::cooling, 'x', "preempted, waits for a CPU"},
    {Look::warming, 'o', "woken, waits for a CPU"},
    {Look::throttled, '=', "its cgroup has no CPU quota left"},
    {Look::paused, '.', "blocked"},
    {Look::dead, ' ', "has ended"},
    {Look::unknown, '?', "not seen"},
}};

/// The states that are drawn at the bottom of a column, from there: each is seen however short it
/// was.
inline constexpr std::array kStacked = {Look::running, Look::cooling, Look::warming,
                                        Look::throttled};

inline uint64_t all_of(const StateTimes &time) {
  uint64_t sum = 0;
  for (const uint64_t ns : time)
    sum += ns;
  return sum;
}

/// The largest of what is not stacked: what the rest of a column shows.
inline Look rest_of(const StateTimes &time) {
  Look most = Look::paused;
  for (const Look state : {Look::unknown, Look::dead})
    if (time[size_t(state)] > time[size_t(most)])
      most = state;
  return most;
}

} // namespace ovnitrace
