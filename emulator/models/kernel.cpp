// SPDX-License-Identifier: BSD-2-Clause
// Shows why a thread is off its CPU, which thread runs instead, and its priority.
#include "emulator/format/found_state.h"
#include "emulator/models/registry.h"
#include "emulator/models/value_labels.h"

#include <ovnitrace/ftrace_codes.h>

namespace ovnitrace {

namespace {

enum : uint32_t { kReason, kNext, kPriority };

/// Returns the labels of PRV type 200: the reason of the record + 1. 0 means on a CPU or unknown.
std::vector<ValueLabel> reasons() {
  std::vector<ValueLabel> labels = value_labels(kReasonNames, 1);
  std::erase_if(labels, [](const ValueLabel &label) {
    return label.value == FTRACE_OFFCPU_DEAD + 1; // written as task_end
  });
  return labels;
}

/// A reason that is also a thread state has the state's colour.
const std::vector<ValueColor> kReasonColors = {
    {FTRACE_OFFCPU_YIELDED + 1, palette::kSeries[3]},
    {FTRACE_OFFCPU_PREEMPTED + 1, palette::kPreempted},
    {FTRACE_OFFCPU_SLEEP + 1, palette::kBlocked},
    {FTRACE_OFFCPU_DISK + 1, palette::kSeries[0]},
    {FTRACE_OFFCPU_STOPPED + 1, palette::kSeries[7]},
    {FTRACE_OFFCPU_TRACED + 1, palette::kSeries[8]},
    {FTRACE_OFFCPU_PARKED + 1, palette::kSeries[6]},
    {FTRACE_OFFCPU_IDLE + 1, palette::kGone},
    {FTRACE_OFFCPU_THROTTLED + 1, palette::kThrottled},
    {FTRACE_OFFCPU_REFILLED + 1, palette::kSeries[4]},
    {FTRACE_OFFCPU_EXHAUSTED + 1, palette::kSeries[1]},
    {FTRACE_OFFCPU_NEXT_PERIOD + 1, palette::kSeries[2]},
    {FTRACE_OFFCPU_FROZEN + 1, palette::kSeries[5]},
    {FTRACE_OFFCPU_WAITED + 1, palette::kWoken},
};

void off_cpu(ModelContext &ctx, const Event &event, int64_t reason, int64_t next) {
  ThreadState state = ctx.system.threads()[event.thread].state;
  bool known = state == ThreadState::Cooling || is_blocked(state) ||
               (state == ThreadState::Warming && reason == FTRACE_OFFCPU_WAITED);
  ctx.set(kReason, event.thread, known ? reason + 1 : 0);
  ctx.set(kNext, event.thread, known ? next : 0);
}

void switched_out(ModelContext &ctx, const Event &event) {
  off_cpu(ctx, event, event.reason(), event.named().tid);
}

void dispatched(ModelContext &ctx, const Event &event) {
  ctx.set(kReason, event.thread, 0);
  ctx.set(kNext, event.thread, 0);
  // It is not, if its CPU is losing events: then nothing is known about the thread.
  bool running = ctx.system.threads()[event.thread].state == ThreadState::Running;
  ctx.set(kPriority, event.thread, running ? event.par2 & FTRACE_PRIO_MASK : 0);
}

/// Ends the reason when the thread is woken, unless it is throttled from then on.
void woken(ModelContext &ctx, const Event &event) {
  if (ctx.system.transition().thread != event.thread)
    return;
  off_cpu(ctx, event, event.held_back(), 0);
}

/// Shows that a throttled thread waits for a CPU from now on. Another thread was waiting before.
void refilled(ModelContext &ctx, const Event &event) {
  const int64_t shown = ctx.value(kReason, event.thread);
  if (shown > 0 && ftrace_offcpu_is_throttled(uint32_t(shown - 1)))
    ctx.set(kReason, event.thread, FTRACE_OFFCPU_REFILLED + 1);
}

void ended(ModelContext &ctx, const Event &event) {
  ctx.set(kReason, event.thread, 0);
  ctx.set(kNext, event.thread, 0);
  ctx.set(kPriority, event.thread, 0);
}

void snapshot(ModelContext &ctx, const Event &event) {
  if (ctx.system.transition().thread == event.thread)
    off_cpu(ctx, event, found_reason(event), 0);
}

/// Shows the priority. The manual's event has no parameters; then the next dispatch has the
/// priority.
void priority_set(ModelContext &ctx, const Event &event) {
  if (added_par2(event) >> FTRACE_POLICY_SHIFT)
    ctx.set(kPriority, event.thread, event.par2 & FTRACE_PRIO_MASK);
}

} // namespace

Model kernel_model() {
  return {
      "kernel",
      "why a thread is off its CPU, who runs instead, its priority",
      {
          {.name = "off-CPU reason",
           .label = "Why the thread is off its CPU",
           .none = "On a CPU, woken, or not known",
           .thread_type = 200,
           .scheduling = true,
           .values = reasons(),
           .colors = kReasonColors},
          {.name = "runs instead",
           .label = "TID that got the CPU instead",
           .none = "Nobody, or on a CPU",
           .thread_type = 201,
           .scheduling = true,
           .labels = ChannelDef::Labels::threads},
          {.name = "priority",
           .label = "Kernel priority + 2 of the running thread",
           .none = "Not running, or not known",
           .idle = "Idle, or not known",
           .thread_type = 202,
           .cpu_type = 202,
           .thread_track = Track::running,
           .cpu_track = Track::running,
           .scheduling = true,
           .values = priority_labels()},
      },
      {
          {FTrace_EVT_task_dispatch, dispatched, "the reason ends; the priority is shown"},
          {FTrace_EVT_task_epilogue, switched_out,
           "preempted, yielded or throttled; which thread runs instead"},
          {FTrace_EVT_task_sleep, switched_out, "why it sleeps; which thread runs instead"},
          {FTrace_EVT_task_end, ended, "the reason, the next thread and the priority end"},
          {FTrace_EVT_task_activate, woken,
           "the reason ends, or says why the thread may not run yet"},
          {FTrace_EXT_snapshot, snapshot, "the reason at the start of the capture"},
          {FTrace_EXT_state, snapshot, "the reason at the start of a flight recorder's events"},
          {FTrace_EXT_holder, nullptr, "no effect here: `ovnitrace why` reads it", false},
          {FTrace_EXT_refill, refilled, "no longer throttled: it waits for a CPU"},
          {FTrace_EXT_device, nullptr, "no effect here: `ovnitrace why` reads it"},
          {FTrace_EXT_affinity, nullptr, "no effect here: `ovnitrace why` reads it"},
          {FTrace_EXT_work, nullptr, "no effect here: the critical path uses it"},
          {FTrace_EXT_work_age, nullptr, "no effect here: the critical path uses it"},
          {FTrace_EVT_set_priority, priority_set, "the priority, if it is known"},
      },
  };
}

} // namespace ovnitrace
