// SPDX-License-Identifier: BSD-2-Clause
// What more threads are worth on this machine.
#pragma once

#include <sched.h>

#include <algorithm>
#include <cstddef>
#include <thread>

namespace ovnitrace {

/// Bytes between what one thread writes and what another one uses all the time: a cache line, and
/// the one beside it, which the processor fetches with it.
inline constexpr size_t kApart = 128;

/// How many CPUs this thread may run on; where there are more than a cpu_set_t holds, how many
/// there are.
inline unsigned cores() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0
             ? unsigned(CPU_COUNT(&set))
             : std::max(1u, std::thread::hardware_concurrency());
}

} // namespace ovnitrace
