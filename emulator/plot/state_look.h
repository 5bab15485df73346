// SPDX-License-Identifier: BSD-2-Clause
// How pictures show a state, and how a column that stands for several states is divided.
#pragma once

#include "emulator/format/thread_state.h"
#include "emulator/plot/figure.h"

#include <array>

namespace ovnitrace {

struct StateLook {
  ThreadState state;
  char plain; ///< of a column that is mostly in it, where there are no colours
  const char *meaning;
};

/// In the order of legends.
inline constexpr std::array<StateLook, kThreadStates> kStateLooks = {{
    {ThreadState::Running, '#', "on a CPU"},
    {ThreadState::Cooling, 'x', "preempted, waits for a CPU"},
    {ThreadState::Warming, 'o', "woken, waits for a CPU"},
    {ThreadState::Paused, '.', "blocked"},
    {ThreadState::Dead, ' ', "has ended"},
    {ThreadState::Unknown, '?', "not seen"},
}};

/// The states that are drawn at the bottom of a column, from there: each is seen however short it
/// was.
inline constexpr std::array kStacked = {ThreadState::Running, ThreadState::Cooling,
                                        ThreadState::Warming};

inline uint64_t all_of(const StateTimes &time) {
  uint64_t sum = 0;
  for (const uint64_t ns : time)
    sum += ns;
  return sum;
}

/// The largest of what is not stacked: what the rest of a column shows.
inline ThreadState rest_of(const StateTimes &time) {
  ThreadState most = ThreadState::Paused;
  for (const ThreadState state : {ThreadState::Unknown, ThreadState::Dead})
    if (time[size_t(state)] > time[size_t(most)])
      most = state;
  return most;
}

} // namespace ovnitrace
