// SPDX-License-Identifier: BSD-2-Clause
// Shows who woke a thread, from where, and how long it then waited for a CPU.
#include "emulator/models/registry.h"
#include "emulator/models/value_labels.h"

#include <ovnitrace/ftrace_codes.h>

namespace ovnitrace {

namespace {

enum : uint32_t { kWaker, kContext, kLatency };

/// By thread: when it was last woken.
using WokenAt = std::vector<uint64_t>;

WokenAt &woken_at(ModelContext &ctx) {
  return ctx.own<WokenAt>();
}

void start(ModelContext &ctx) {
  ctx.keep(WokenAt());
}

void born(ModelContext &ctx, uint32_t) {
  woken_at(ctx).push_back(0);
}

void activate(ModelContext &ctx, const Event &event) {
  const auto &transition = ctx.system.transition();
  if (transition.thread != event.thread || !is_waiting(transition.to))
    return;
  const uint32_t context = event.waker_context();
  const bool by_thread = context == FTRACE_WAKER_TASK;
  ctx.set(kWaker, event.thread, by_thread ? event.named().tid : 0);
  ctx.set(kContext, event.thread, context + 1);
  woken_at(ctx)[event.thread] = event.time;
  if (by_thread && event.peer != kNone && event.peer != event.thread)
    ctx.arrow({event.peer, event.thread, context});
}

/// Ends the wait: the thread runs, or is off its CPU again.
void over(ModelContext &ctx, const Event &event) {
  ctx.set(kWaker, event.thread, 0);
  ctx.set(kContext, event.thread, 0);
}

/// Shows the latency. Without a context, the start of the wait was not seen: the context is cleared
/// when the state of the thread is not known.
void dispatch(ModelContext &ctx, const Event &event) {
  const bool waited =
      ctx.value(kContext, event.thread) && ctx.system.transition().from == ThreadState::Warming;
  const uint64_t since = woken_at(ctx)[event.thread];
  ctx.set(kLatency, event.thread, waited ? int64_t(event.time - since) : 0);
  over(ctx, event);
}

} // namespace

Model wakeup_model() {
  return {
      "wakeup",
      "who woke a thread, and how long it waited for a CPU",
      {
          {.name = "waker",
           .label = "TID that woke the thread",
           .none = "No thread",
           .thread_type = 220,
           .scheduling = true,
           .labels = ChannelDef::Labels::threads},
          {.name = "waker context",
           .label = "Context of the wakeup",
           .none = "No wakeup",
           .thread_type = 221,
           .scheduling = true,
           .values = value_labels(kWakerContextNames, 1)},
          {.name = "wakeup latency",
           .label = "Latency of the last wakeup (ns)",
           .none = "No wakeup",
           .thread_type = 222,
           .cpu_type = 222,
           .thread_track = Track::running,
           .cpu_track = Track::running,
           .scheduling = true,
           .paint = Paint::gradient},
      },
      {
          {FTrace_EVT_task_activate, activate,
           "the context and, if a thread woke it, the waker, until it runs; an arrow from the "
           "waker"},
          {FTrace_EVT_task_dispatch, dispatch, "latency since the wakeup, while Running"},
          {FTrace_EVT_task_epilogue, over, "no waker"},
          {FTrace_EVT_task_sleep, over, "no waker"},
          {FTrace_EVT_task_end, over, "no waker"},
      },
      start,
      born,
  };
}

} // namespace ovnitrace
