// SPDX-License-Identifier: BSD-2-Clause
// Shows what the scheduler of S.Ha.R.K. decided: which task runs in place of which.
#include "emulator/models/registry.h"

#include <ovnitrace/ftrace_codes.h>

namespace ovnitrace {

namespace {

constexpr uint32_t kFor = 0;

/// Handles (exec_shadow.context, exec.context): exec was chosen. If it is blocked, exec_shadow, for
/// which it waits, runs in its place. On Linux, which has priorities, exec_shadow runs with that of
/// exec.
void schedule(ModelContext &ctx, const Event &event) {
  const bool other = event.peer != kNone && event.peer != event.thread;
  ctx.set(kFor, event.thread, other ? ctx.system.catalog().threads[event.peer].tid : 0);
}

} // namespace

Model shadow_model() {
  return {
      "shadow",
      "threads that run in the place of a blocked one",
      {
          {.name = "runs for",
           .label = "TID of the thread in whose place it runs",
           .none = "Nobody else",
           .thread_type = 464,
           .cpu_type = 464,
           .thread_track = Track::running,
           .cpu_track = Track::running,
           .scheduling = true,
           .labels = ChannelDef::Labels::threads},
      },
      {
          {FTrace_EVT_task_schedule, schedule,
           "the thread in parameter 2, or 0 if it is the same thread"},
          {FTrace_EVT_inheritance, schedule,
           "the thread in parameter 2, or 0 if it is the same thread"},
          {FTrace_EVT_context_switch, nullptr, "no effect here: it implies a `task_dispatch`",
           false},
      },
  };
}

} // namespace ovnitrace
