// SPDX-License-Identifier: BSD-2-Clause
// Shows cycles of periodic tasks: the current one, how long each took, and what went wrong.
#include "emulator/models/registry.h"

#include "emulator/models/host_rows.h"

#include <fmt/format.h>
#include <ovnitrace/ftrace_codes.h>

#include <algorithm>

namespace ovnitrace {

namespace {

enum : uint32_t { kCycle, kResponse, kDeadlineMiss, kWcetViolation, kEndLevel, kTimerLevel };

/// By thread: the cycles seen, and the start of the current one.
struct Cycles {
  int64_t count = 0;
  uint64_t since = 0;
  bool under_way = false;
  bool known = false; ///< a start or an end was seen since the last blackout
};

Cycles &cycles(ModelContext &ctx, uint32_t thread) {
  return ctx.own<std::vector<Cycles>>()[thread];
}

void start(ModelContext &ctx) {
  ctx.keep(std::vector<Cycles>());
}

void born(ModelContext &ctx, uint32_t) {
  ctx.own<std::vector<Cycles>>().emplace_back();
}

void begin(ModelContext &ctx, const Event &event) {
  Cycles &of = cycles(ctx, event.thread);
  if (of.under_way)
    ctx.faults.add(event, [&] {
      return fmt::format("{} starts a cycle, but cycle {} has not ended",
                         thread_name(ctx.system.catalog(), event.thread), of.count);
    });
  of = {of.count + 1, event.time, true, true};
  ctx.set(kCycle, event.thread, of.count);
}

/// Ends a cycle. It may have begun before the trace, or while events were lost.
void end(ModelContext &ctx, const Event &event) {
  Cycles &of = cycles(ctx, event.thread);
  if (of.under_way)
    ctx.punctual(kResponse, event.thread, int64_t(std::max<uint64_t>(event.time - of.since, 1)));
  else if (of.known)
    ctx.faults.add(event, [&] {
      return fmt::format("{} ends a cycle after cycle {}, but none has begun",
                         thread_name(ctx.system.catalog(), event.thread), of.count);
    });
  else if (!of.count)
    of.count = 1;
  of.under_way = false;
  of.known = true;
  ctx.set(kCycle, event.thread, 0);
  ctx.punctual(kEndLevel, event.thread, int64_t(event.par2) + 1);
}

void task_end(ModelContext &ctx, const Event &event) {
  cycles(ctx, event.thread).under_way = false;
  ctx.set(kCycle, event.thread, 0);
}

/// Forgets the cycles of a host: which ones ended or began while events were lost is not known.
void blackout(ModelContext &ctx, const Event &event) {
  if (!ctx.system.channels().used(ctx.first + kCycle))
    return;
  each_thread_of_host(ctx, event, [&](uint32_t thread) {
    Cycles &of = cycles(ctx, thread);
    of.under_way = of.known = false;
    ctx.set(kCycle, thread, 0);
  });
}

void timer(ModelContext &ctx, const Event &event) {
  ctx.punctual(kTimerLevel, event.thread, int64_t(event.par2) + 1);
}

template <uint32_t channel> void happens(ModelContext &ctx, const Event &event) {
  ctx.punctual(channel, event.thread, 1);
}

} // namespace

Model cycle_model() {
  return {
      "cycle",
      "cycles of periodic tasks, missed deadlines and exceeded execution times",
      {
          {.name = "cycle",
           .label = "Number of the cycle",
           .none = "No cycle",
           .thread_type = 460,
           .cpu_type = 460,
           .cpu_track = Track::running},
          {.name = "response time",
           .label = "Response time of the cycle that ends (ns)",
           .none = "No cycle ends",
           .thread_type = 461,
           .paint = Paint::gradient},
          {.name = "deadline miss",
           .label = "Deadline miss",
           .none = "No miss",
           .thread_type = 462,
           .cpu_type = 462,
           .cpu_track = Track::running,
           .values = {{1, "Deadline miss"}},
           .colors = {{1, palette::kAlarm}}},
          {.name = "WCET violation",
           .label = "Worst-case execution time exceeded",
           .none = "Not exceeded",
           .thread_type = 463,
           .cpu_type = 463,
           .cpu_track = Track::running,
           .values = {{1, "WCET violation"}},
           .colors = {{1, palette::kAlarm}}},
          {.name = "level",
           .label = "Level of the cycle that ends, + 1",
           .none = "No cycle ends",
           .thread_type = 465},
          {.name = "timer level",
           .label = "Level of the timer that releases a cycle, + 1",
           .none = "No timer",
           .thread_type = 466},
      },
      {
          {FTrace_EVT_task_begin_cycle, begin, "the next number"},
          {FTrace_EVT_task_end_cycle, end,
           "number 0; punctual: how long the cycle took, and its level (parameter 2) + 1"},
          {FTrace_EVT_task_deadline_miss, happens<kDeadlineMiss>, "punctual: 1"},
          {FTrace_EVT_task_wcet_violation, happens<kWcetViolation>, "punctual: 1"},
          {FTrace_EVT_task_timer, timer, "punctual: its level (parameter 2) + 1"},
          {FTrace_EVT_task_disable, nullptr, "no more cycles; no effect"},
          {FTrace_EVT_task_end, task_end, "number 0"},
          {FTrace_EVT_blackout_start, blackout, "no cycle is known", false},
          {FTrace_EVT_blackout_end, blackout, "no cycle is known", false},
      },
      start,
      born,
  };
}

} // namespace ovnitrace
