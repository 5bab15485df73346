// SPDX-License-Identifier: BSD-2-Clause
// Idle states and frequencies of CPUs.
#include "emulator/models/registry.h"

#include <fmt/format.h>
#include <ovnitrace/ftrace_codes.h>

namespace ovnitrace {

namespace {

enum : uint32_t { kIdle, kFrequency };

void idle_start(ModelContext &ctx, const Event &event) {
  if (event.cpu != kNone)
    ctx.set(kIdle, event.cpu, int64_t(event.par2) + 1);
}

void idle_end(ModelContext &ctx, const Event &event) {
  if (event.cpu != kNone)
    ctx.set(kIdle, event.cpu, 0);
}

/// Another CPU may set it.
void frequency(ModelContext &ctx, const Event &event) {
  if (event.cpu == kNone)
    return;
  const uint32_t cpu = ctx.system.find_cpu(ctx.system.cpus()[event.cpu].node, event.par1);
  if (cpu != kNone)
    ctx.set(kFrequency, cpu, event.par2);
}

/// What changed while events were lost is not known.
void blackout(ModelContext &ctx, const Event &event) {
  if (event.cpu == kNone)
    return;
  ctx.set(kIdle, event.cpu, 0);
  ctx.set(kFrequency, event.cpu, 0);
}

std::vector<ValueLabel> idle_states() {
  std::vector<ValueLabel> labels;
  for (int state = 0; state < 10; state++) // CPUIDLE_STATE_MAX
    labels.push_back({state + 1, fmt::format("Idle state {}", state)});
  return labels;
}

} // namespace

Model power_model() {
  return {
      "power",
      "idle states and frequencies of CPUs",
      {
          {.name = "idle state",
           .label = "Idle state that the CPU is in",
           .none = "In none, or not known",
           .cpu_type = 500,
           .scope = Scope::cpu,
           .values = idle_states()},
          {.name = "frequency",
           .label = "Frequency of the CPU (kHz)",
           .none = "Not known",
           .cpu_type = 501,
           .scope = Scope::cpu,
           .paint = Paint::gradient},
      },
      {
          {FTrace_EXT_idle_start, idle_start, "the CPU is in it", false},
          {FTrace_EXT_idle_end, idle_end, "in none", false},
          {FTrace_EXT_frequency, frequency, "of the CPU that parameter 1 names", false},
          {FTrace_EVT_blackout_start, blackout, "nothing is known", false},
          {FTrace_EVT_blackout_end, blackout, "nothing is known", false},
      },
      {},
  };
}

} // namespace ovnitrace
