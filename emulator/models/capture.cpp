// SPDX-License-Identifier: BSD-2-Clause
// Shows what the capture itself says: lost events, and what programs do to the capture.
#include "emulator/models/registry.h"

#include <ovnitrace/ftrace_codes.h>

#include <unordered_map>
#include <vector>

namespace ovnitrace {

namespace {

enum : uint32_t { kBlackout, kLost, kFamilyLost, kProgram, kMark, kCpuMark };
constexpr int64_t kEnabled = 1, kDisabled = 2; // of kProgram
constexpr int64_t kPaused = 2, kOutside = 3;   // of kBlackout

uint32_t channel_of(const Event &event) {
  return event.par1 == FTRACE_BLACKOUT_FAMILIES ? kFamilyLost : kBlackout;
}

/// Handles lost events: anything may have ended or begun meanwhile.
void blackout_start(ModelContext &ctx, const Event &event) {
  ctx.system.channels().forget_stacks(ctx.system.host_of(event.cpu));
  if (event.cpu != kNone)
    ctx.set(channel_of(event), event.cpu,
            event.par1 == FTRACE_BLACKOUT_PAUSED    ? kPaused
            : event.par1 == FTRACE_BLACKOUT_OUTSIDE ? kOutside
                                                    : 1);
}

void blackout_end(ModelContext &ctx, const Event &event) {
  ctx.system.channels().forget_stacks(ctx.system.host_of(event.cpu));
  if (event.cpu == kNone)
    return;
  ctx.set(channel_of(event), event.cpu, 0);
  if (event.par2 && event.par1 != FTRACE_BLACKOUT_FORGOTTEN)
    ctx.punctual(kLost, event.cpu, event.par2);
}

/// Pushes before the capture were not seen.
void snapshot(ModelContext &ctx, const Event &) {
  ctx.system.channels().miss_pushes();
}

/// By host << 32 | pid: the threads of a process.
using Processes = std::unordered_map<uint64_t, std::vector<uint32_t>>;

std::vector<uint32_t> &process_of(ModelContext &ctx, uint32_t thread) {
  const ThreadInfo &info = ctx.system.catalog().threads[thread];
  return ctx.own<Processes>()[uint64_t(info.host) << 32 | info.pid];
}

void start(ModelContext &ctx) {
  ctx.keep(Processes());
}

void born(ModelContext &ctx, uint32_t thread) {
  process_of(ctx, thread).push_back(thread);
}

/// Shows which function the process called last. After an execve, the new program has called
/// neither yet.
template <int64_t value> void set_program(ModelContext &ctx, const Event &event) {
  for (const uint32_t one : process_of(ctx, event.thread))
    ctx.set(kProgram, one, value);
}

/// Handles a new process, which may have the pid of an older one and has called neither function
/// yet.
void created(ModelContext &ctx, const Event &event) {
  const ThreadInfo &thread = ctx.system.catalog().threads[event.thread];
  if (thread.tid == thread.pid)
    set_program<0>(ctx, event);
}

/// Shows a mark on every row of its host.
void mark(ModelContext &ctx, const Event &event) {
  if (event.cpu == kNone)
    return;
  const uint32_t host = ctx.system.cpus()[event.cpu].host;
  for (uint32_t t = 0; t < ctx.system.threads().size(); t++)
    if (ctx.system.threads()[t].host == host && ctx.system.threads()[t].state != ThreadState::Dead)
      ctx.punctual(kMark, t, event.par1);
  for (uint32_t c = 0; c < ctx.system.catalog().cpus.size(); c++)
    if (ctx.system.cpus()[c].host == host)
      ctx.punctual(kCpuMark, c, event.par1);
}

} // namespace

Model capture_model() {
  return {
      "capture",
      "lost events, marks, and whether a program has disabled its own events",
      {
          {.name = "blackout",
           .label = "Events are being lost",
           .none = "Nothing is lost",
           .cpu_type = 10,
           .scope = Scope::cpu,
           .values = {{1, "Blackout"},
                      {kPaused, "Paused by ovnitrace ctl"},
                      {kOutside, "Before or after this trace"}},
           .colors = {{1, palette::kAlarm}}},
          {.name = "lost events",
           .label = "Events that were lost",
           .cpu_type = 11,
           .scope = Scope::cpu,
           .paint = Paint::gradient},
          {.name = "blackout of families",
           .label = "Events that are not the scheduler's are being lost",
           .none = "Nothing is lost",
           .cpu_type = 12,
           .scope = Scope::cpu,
           .values = {{1, "Blackout"}},
           .colors = {{1, palette::kAlarm}}},
          {.name = "program's tracing",
           .label = "Last call of FTrace_enable or FTrace_disable",
           .none = "Neither was called",
           .thread_type = 13,
           .cpu_type = 13,
           .cpu_track = Track::running,
           .values = {{kEnabled, "Enabled"}, {kDisabled, "Disabled"}}},
          {.name = "ctl mark",
           .label = "Mark of ovnitrace ctl",
           .none = "No mark",
           .thread_type = 14,
           .labels = ChannelDef::Labels::marks},
          {.name = "ctl mark on CPUs",
           .label = "Mark of ovnitrace ctl",
           .none = "No mark",
           .cpu_type = 14,
           .scope = Scope::cpu,
           .labels = ChannelDef::Labels::marks},
      },
      {
          {FTrace_EVT_trace_start, nullptr, "the capture starts; no effect", false},
          {FTrace_EVT_trace_stop, nullptr, "the capture ends; no effect", false},
          {FTrace_EVT_blackout_start, blackout_start,
           "blackout becomes 1; 2 while the capture is paused; 3 outside this trace, if others are "
           "read with it; pushed values are dropped",
           false},
          {FTrace_EVT_blackout_end, blackout_end,
           "blackout becomes 0; lost events: punctual, how many; pushed values are dropped", false},
          {FTrace_EXT_mark, mark, "ctl mark: a punctual event with its number, on every row",
           false},
          {FTrace_EXT_snapshot, snapshot,
           "from here on, a pop without a push is accepted: the push may be older than the "
           "capture"},
          {FTrace_EXT_enable, set_program<kEnabled>, "1 on the threads of the process"},
          {FTrace_EXT_disable, set_program<kDisabled>, "2 on the threads of the process"},
          {FTrace_EXT_exec, set_program<0>, "0 on the threads of the process"},
          {FTrace_EVT_task_create, created, "0 on the threads of a new process"},
      },
      start,
      born,
  };
}

} // namespace ovnitrace
