// SPDX-License-Identifier: BSD-2-Clause
// Tells how many threads are worth starting on this machine.
#pragma once

#include <sched.h>

#include <algorithm>
#include <cstddef>
#include <thread>

namespace ovnitrace {

/// The bytes between data that one thread writes and data that another one uses: a cache line, and
/// its neighbour, which the processor fetches too.
inline constexpr size_t kApart = 128;

/// Returns how many CPUs this thread may run on. If there are more than fit a cpu_set_t, returns
/// how many exist.
inline unsigned cores() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0
             ? unsigned(CPU_COUNT(&set))
             : std::max(1u, std::thread::hardware_concurrency());
}

} // namespace ovnitrace
