// SPDX-License-Identifier: BSD-2-Clause
// Shows timers: who arms them, when they fire, and how late.
#include "emulator/models/registry.h"

#include "emulator/models/host_rows.h"
#include "emulator/models/value_labels.h"
#include <ovnitrace/ftrace_codes.h>

namespace ovnitrace {

namespace {

enum : uint32_t { kArmed, kCancelled, kFires, kLate, kHandler };

int64_t kind(const Event &event) {
  return int64_t(added_par2(event) & FTRACE_TIMER_KIND_MASK) + 1;
}

template <uint32_t channel> void happens(ModelContext &ctx, const Event &event) {
  ctx.punctual(channel, event.thread, kind(event));
}

/// Handles the event, which has no context in the manual.
void wakeup_start(ModelContext &ctx, const Event &event) {
  if (event.cpu != kNone)
    ctx.set(kHandler, event.cpu, kind(event));
  if (event.thread == kNone)
    return;
  ctx.punctual(kFires, event.thread, kind(event));
  if (const uint32_t late = added_par2(event) >> FTRACE_TIMER_SHIFT)
    ctx.punctual(kLate, event.thread, late);
}

void wakeup_end(ModelContext &ctx, const Event &event) {
  if (event.cpu != kNone)
    ctx.set(kHandler, event.cpu, 0);
}

const std::vector<ValueLabel> kKinds = value_labels(kTimerNames, 1);

/// Clears handlers: which ones end while they are not logged is not known, on any CPU of the host.
void filtered(ModelContext &ctx, const Event &event) {
  if (event.par1)
    each_cpu_of_host(ctx, event, [&](uint32_t cpu) { ctx.set(kHandler, cpu, 0); });
}

} // namespace

Model timer_model() {
  return {
      "timer",
      "timers of threads",
      {
          {.name = "timer armed",
           .label = "Timer that the thread arms",
           .none = "No timer",
           .thread_type = 440,
           .values = kKinds},
          {.name = "timer cancelled",
           .label = "Timer that the thread cancels",
           .none = "No timer",
           .thread_type = 441,
           .values = kKinds},
          {.name = "timer fires",
           .label = "Timer of the thread that expires",
           .none = "No timer",
           .thread_type = 442,
           .values = kKinds},
          {.name = "timer late",
           .label = "By how much it is late (ns)",
           .none = "Not late, or not known",
           .thread_type = 443,
           .paint = Paint::gradient},
          {.name = "timer handler",
           .label = "Timer that the CPU handles",
           .none = "No timer",
           .cpu_type = 444,
           .scope = Scope::cpu,
           .values = kKinds},
      },
      {
          {FTrace_EVT_timer_post, happens<kArmed>, "punctual: armed"},
          {FTrace_EVT_timer_delete, happens<kCancelled>, "punctual: cancelled"},
          {FTrace_EVT_timer_wakeup_start, wakeup_start,
           "the CPU handles it; punctual: fires, and how late", false},
          {FTrace_EVT_timer_wakeup_end, wakeup_end, "the CPU has handled it", false},
          {FTrace_EVT_blackout_start, wakeup_end, "timer handler becomes 0", false},
          {FTrace_EVT_blackout_end, wakeup_end, "timer handler becomes 0", false},
          {FTrace_filter_timer, filtered, "with parameter 1 = 1: timer handler becomes 0", false},
      },
  };
}

} // namespace ovnitrace
