// SPDX-License-Identifier: BSD-2-Clause
// Visits the threads or CPUs of the host of an event. A loss or a filter on one host does not
// affect another. An event without a CPU is about all hosts.
#pragma once

#include "emulator/core/model.h"

#include <cstdint>

namespace ovnitrace {

/// Calls `take` with the index of each thread on the host of the event.
template <class Take>
void each_thread_of_host(const ModelContext &ctx, const Event &event, Take take) {
  const auto &threads = ctx.system.threads();
  for (uint32_t thread = 0; thread < threads.size(); thread++)
    if (event.cpu == kNone || threads[thread].host == ctx.system.cpus()[event.cpu].host)
      take(thread);
}

/// Calls `take` with the index of each CPU on the host of the event.
template <class Take>
void each_cpu_of_host(const ModelContext &ctx, const Event &event, Take take) {
  const auto &cpus = ctx.system.cpus();
  for (uint32_t cpu = 0; cpu < cpus.size(); cpu++)
    if (event.cpu == kNone || cpus[cpu].host == cpus[event.cpu].host)
      take(cpu);
}

/// Handles the event of a filter: if the family is not logged from here on, clears what the model
/// shows, because what ends from here on is not known.
template <EventHandler clear> void if_filtered(ModelContext &ctx, const Event &event) {
  if (event.par1)
    clear(ctx, event);
}

} // namespace ovnitrace
