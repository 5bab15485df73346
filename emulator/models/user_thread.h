// SPDX-License-Identifier: BSD-2-Clause
// Which thread a user event belongs to.
#pragma once

#include "emulator/core/model.h"

#include <ovnitrace/ftrace_codes.h>

namespace ovnitrace {

/// Whether programs log events of this kind: both parameters are free, so they name no thread.
constexpr bool programs_log(uint32_t kind) {
  if (kind >= FTrace_filter_trace_Events)
    return kind <= FTrace_filter_timer;
  const uint32_t family = kind & FTrace_family_mask;
  return family == (FTrace_filter_ipoint & FTrace_family_mask) ||
         family == (FTrace_filter_user & FTrace_family_mask) ||
         family == (FTrace_filter_data & FTrace_family_mask);
}

/// Whether it is an ipoint or a numbered event of the program.
constexpr bool is_users(const Event &event) {
  return event.kind == FTrace_EVT_ipoint ||
         (event.kind <= FTrace_EVT_user_event_14 &&
          (event.kind & FTrace_family_mask) == FTRACE_FAMILY_USER);
}

/// The thread that runs on a CPU; kNone if none is known to, or several are.
uint32_t running_thread(const System &system, uint32_t cpu);

/// Both parameters of a user event are free, so it names no thread: it is of the one that runs on
/// the CPU where it was logged. kNone, and reported, if none does.
uint32_t user_thread(ModelContext &ctx, const Event &event);

} // namespace ovnitrace
