// SPDX-License-Identifier: BSD-2-Clause
// Shows in which system call a thread is blocked.
#include "emulator/models/blocked_in.h"

#include "emulator/models/registry.h"

namespace ovnitrace {

namespace {

enum : uint32_t { kCall };

void blocked(ModelContext &ctx, const Event &event) {
  const bool paused = is_blocked(ctx.system.threads()[event.thread].state);
  ctx.set(kCall, event.thread, paused ? blocked_in_value(event.call) : 0);
}

void found(ModelContext &ctx, const Event &event) {
  if (ctx.system.transition().thread == event.thread)
    blocked(ctx, event);
}

/// Clears the call when the block is over. A wakeup of a thread that is not blocked is not a
/// transition.
void over(ModelContext &ctx, const Event &event) {
  if (ctx.system.transition().thread == event.thread)
    ctx.set(kCall, event.thread, 0);
}

} // namespace

Model blocked_in_model() {
  return {
      "blocked_in",
      "the system call in which a thread is blocked",
      {
          {.name = "blocked in",
           .label = "System call in which the thread is blocked",
           .none = "None",
           .thread_type = 203,
           .scheduling = true,
           .labels = ChannelDef::Labels::calls},
      },
      {
          {FTrace_EVT_task_sleep, blocked, "the system call, while Paused"},
          {FTrace_EVT_task_activate, over, "0"},
          {FTrace_EVT_task_dispatch, over, "0"},
          {FTrace_EVT_task_end, over, "0"},
          {FTrace_EXT_snapshot, found, "the system call at the start of the capture"},
          {FTrace_EXT_state, found, "the system call at the start of a flight recorder's events"},
      },
  };
}

} // namespace ovnitrace
