// SPDX-License-Identifier: BSD-2-Clause
// Finds the thread to which a user event belongs.
#pragma once

#include "emulator/core/model.h"

#include <ovnitrace/ftrace_codes.h>

namespace ovnitrace {

/// Returns whether programs log events of this kind. Their parameters are free, so they name no
/// thread.
constexpr bool programs_log(uint32_t kind) {
  if (kind >= FTrace_filter_trace_Events)
    return kind <= FTrace_filter_timer;
  const uint32_t family = kind & FTrace_family_mask;
  return family == (FTrace_filter_ipoint & FTrace_family_mask) ||
         family == (FTrace_filter_user & FTrace_family_mask) ||
         family == (FTrace_filter_data & FTrace_family_mask);
}

/// Returns whether it is an ipoint or a numbered user event.
constexpr bool is_users(const Event &event) {
  return event.kind == FTrace_EVT_ipoint ||
         (event.kind <= FTrace_EVT_user_event_14 &&
          (event.kind & FTrace_family_mask) == FTRACE_FAMILY_USER);
}

/// Returns the thread that runs on a CPU; kNone if none or several are known to.
uint32_t running_thread(const System &system, uint32_t cpu);

/// Returns the thread that an event is about: its own, or that of the program that logged it.
/// Returns kNone for an event of a CPU, and if several threads are known to run there.
inline uint32_t thread_of(const Event &event, const System &system) {
  return event.thread == kNone && programs_log(event.kind) ? running_thread(system, event.cpu)
                                                           : event.thread;
}

/// Returns the thread of a user event: the one that runs on the CPU that logged it, as its
/// parameters name no thread. Returns kNone, and reports it, if no thread runs there.
uint32_t user_thread(ModelContext &ctx, const Event &event);

} // namespace ovnitrace
