// SPDX-License-Identifier: BSD-2-Clause
// Shows idle states, frequencies and stolen time of CPUs.
#include "emulator/models/registry.h"

#include "emulator/models/host_rows.h"

#include <fmt/format.h>
#include <ovnitrace/ftrace_codes.h>

#include <utility>

namespace ovnitrace {

namespace {

constexpr uint32_t kMostStates = 10; // CPUIDLE_STATE_MAX

enum : uint32_t { kFrequency, kStolen };

void set_idle(ModelContext &ctx, const Event &event, int64_t value) {
  if (event.cpu != kNone)
    ctx.system.channels().set(ctx.own<ChannelId>(), event.cpu, value);
}

void idle_start(ModelContext &ctx, const Event &event) {
  set_idle(ctx, event, int64_t(event.par2) + 1);
}

void idle_end(ModelContext &ctx, const Event &event) {
  set_idle(ctx, event, 0);
}

/// Sets a frequency. The event may come from another CPU.
void frequency(ModelContext &ctx, const Event &event) {
  if (event.cpu == kNone)
    return;
  const uint32_t cpu = ctx.system.find_cpu(ctx.system.cpus()[event.cpu].host, event.par1);
  if (cpu != kNone)
    ctx.set(kFrequency, cpu, event.par2);
}

void stolen(ModelContext &ctx, const Event &event) {
  if (event.cpu != kNone)
    ctx.set(kStolen, event.cpu, event.par2);
}

/// Clears what may have changed while events were lost. Any CPU may have set the frequency of
/// another one of its host.
void blackout(ModelContext &ctx, const Event &event) {
  if (event.cpu == kNone)
    return;
  set_idle(ctx, event, 0);
  ctx.set(kStolen, event.cpu, 0);
  each_cpu_of_host(ctx, event, [&](uint32_t cpu) { ctx.set(kFrequency, cpu, 0); });
}

/// Uses the names of idle states of the first trace that has some.
void start(ModelContext &ctx) {
  ChannelDef def = {.name = "idle state",
                    .label = "Idle state that the CPU is in",
                    .none = "In none, or not known",
                    .cpu_type = 500,
                    .scope = Scope::cpu};
  std::vector<std::string> names;
  for (const HostInfo &host : ctx.system.catalog().hosts)
    if (names.empty())
      names = host.idle_states;
  for (uint32_t state = 0; state < kMostStates; state++)
    def.values.push_back({state + 1, state < names.size() && !names[state].empty()
                                         ? names[state]
                                         : fmt::format("Idle state {}", state)});
  ctx.keep(ctx.system.channels().declare(std::move(def)));
}

} // namespace

Model power_model() {
  return {
      "power",
      "idle states, frequencies and stolen time of CPUs",
      {
          {.name = "frequency",
           .label = "Frequency of the CPU (kHz)",
           .none = "Not known",
           .cpu_type = 501,
           .scope = Scope::cpu,
           .paint = Paint::gradient},
          {.name = "stolen time",
           .label = "Time that the hypervisor took from the CPU since the last reading (us)",
           .none = "None, or not known",
           .cpu_type = 502,
           .scope = Scope::cpu,
           .paint = Paint::gradient},
      },
      {
          {FTrace_EXT_idle_start, idle_start, "the idle state of the CPU", false},
          {FTrace_EXT_idle_end, idle_end, "0", false},
          {FTrace_EXT_frequency, frequency, "the frequency, on the CPU in parameter 1", false},
          {FTrace_EXT_steal, stolen, "the time that was stolen since the last reading", false},
          {FTrace_EVT_blackout_start, blackout,
           "idle state, stolen time and frequency become 0, the frequency on all CPUs of the host",
           false},
          {FTrace_EVT_blackout_end, blackout,
           "idle state, stolen time and frequency become 0, the frequency on all CPUs of the host",
           false},
      },
      start,
  };
}

} // namespace ovnitrace
