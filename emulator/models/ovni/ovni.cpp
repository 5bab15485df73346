// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/models/ovni/ovni.h"

#include "emulator/core/process_number.h"
#include "emulator/models/registry.h"
#include "emulator/models/value_labels.h"

#include <fmt/format.h>

namespace ovnitrace {

namespace ovni_model_parts {

namespace {

/// Returns the value of PRV type 6: the number of the CPU + 1, 0 for no CPU. With several hosts,
/// numbers would repeat, so it is the position in the list of all CPUs + 1. The virtual CPU is
/// shown as no CPU.
int64_t cpu_value(const System &system, uint32_t cpu) {
  if (cpu == kNone || system.cpus()[cpu].index == kNone)
    return 0;
  return system.catalog().hosts.size() > 1 ? int64_t(cpu) + 1
                                           : int64_t(system.cpus()[cpu].index) + 1;
}

void count_running(ModelContext &ctx, uint32_t cpu) {
  if (cpu != kNone)
    ctx.set(kRunningThreads, cpu, ctx.system.cpus()[cpu].shown[Track::running].count());
}

} // namespace

void put(ModelContext &ctx, uint32_t thread, ThreadState state, uint32_t cpu) {
  System &system = ctx.system;
  if (system.has_left(thread) || system.may_have_left(thread, state, cpu)) {
    state = ThreadState::Unknown;
    cpu = kNone;
  }
  uint32_t old_cpu = system.threads()[thread].cpu;
  system.change(thread, state, cpu);
  ctx.set(kState, thread, int64_t(state));
  if (cpu != old_cpu) {
    ctx.set(kCpu, thread, cpu_value(system, cpu));
    count_running(ctx, old_cpu);
  }
  count_running(ctx, cpu);
}

namespace {

void start(ModelContext &ctx) {
  const Catalog &catalog = ctx.system.catalog();
  OvniState state;
  state.freed.resize(ctx.system.cpus().size());
  ctx.keep(std::move(state));
  if (catalog.ovni && !catalog.threads.empty())
    ctx.system.channels().use(ctx.first +
                              kFlush); // a CPU with several running threads shows it from the start
}

/// Sets what stays the same for the whole life of a thread.
void born(ModelContext &ctx, uint32_t thread) {
  const ThreadInfo &info = ctx.system.catalog().threads[thread];
  auto &processes = ctx.own<OvniState>().processes;
  const auto process =
      processes.try_emplace({info.host, info.pid}, process_number(processes.size()));
  ctx.set(kProcess, thread, process.first->second);
  ctx.set(kPid, thread, info.pid);
  ctx.set(kTid, thread, info.tid);
}

/// Reports threads that do not end, which ovni forbids. In a capture they may live on.
void check_end(ModelContext &ctx, const Event &end) {
  const Catalog &catalog = ctx.system.catalog();
  for (uint32_t t = 0; catalog.ovni && t < catalog.threads.size(); t++) {
    ThreadState state = ctx.system.threads()[t].state;
    if (state != ThreadState::Dead)
      ctx.faults.add(end, [&] {
        return fmt::format("{} is {} at the end of the trace, not Dead", thread_name(catalog, t),
                           name(state));
      });
  }
}

std::vector<ValueColor> state_colors() {
  std::vector<ValueColor> colors;
  for (uint32_t s = 0; s < kThreadStates; s++)
    colors.push_back({s, kStateTable[s].color});
  return colors;
}

std::vector<ChannelDef> channels() {
  return {
      {.name = "pid",
       .label = "PID of the running thread",
       .none = "Not running",
       .idle = "Idle",
       .thread_type = 1,
       .cpu_type = 1,
       .thread_track = Track::running,
       .cpu_track = Track::running,
       .labels = ChannelDef::Labels::processes},
      {.name = "tid",
       .label = "TID of the running thread",
       .none = "Not running",
       .idle = "Idle",
       .thread_type = 2,
       .cpu_type = 2,
       .thread_track = Track::running,
       .cpu_track = Track::running,
       .labels = ChannelDef::Labels::threads},
      {.name = "state",
       .label = "Thread state",
       .thread_type = 4,
       .values = value_labels(kStateNames),
       .colors = state_colors()},
      {.name = "cpu",
       .label = "CPU of the thread",
       .none = "No CPU",
       .thread_type = 6,
       .labels = ChannelDef::Labels::cpus},
      {.name = "running threads",
       .label = "Number of running threads",
       .none = "Idle",
       .cpu_type = 3,
       .scope = Scope::cpu,
       .paint = Paint::gradient},
      {.name = "process",
       .label = "Process of the running thread",
       .none = "Not running",
       .idle = "Idle",
       .cpu_type = 5,
       .thread_track = Track::running,
       .cpu_track = Track::running,
       .labels = ChannelDef::Labels::process_indices},
      {.name = "flush",
       .label = "Flushing the buffer of ovni",
       .none = "Not flushing",
       .thread_type = 7,
       .cpu_type = 7,
       .cpu_track = Track::running,
       .values = {{1, "Flushing"}}},
  };
}

} // namespace

} // namespace ovni_model_parts

Model ovni_model() {
  using namespace ovni_model_parts;
  Model model{"ovni",   "states of threads and CPUs", channels(), kernel_events(), start, born, {},
              check_end};
  for (const EventDef &event : stream_events())
    model.events.push_back(event);
  return model;
}

} // namespace ovnitrace
