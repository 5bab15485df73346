// SPDX-License-Identifier: BSD-2-Clause
// Shows the mode of a CPU, the families of events that it does not log, and logged pointers.
#include "emulator/format/code_table.h"

#include "emulator/models/host_rows.h"
#include "emulator/models/registry.h"
#include <fmt/format.h>
#include <ovnitrace/ftrace_codes.h>

namespace ovnitrace {

namespace {

enum : uint32_t { kMode, kInterruptsOff, kFilter, kPointer, kPointerPar1 };
constexpr int64_t kReal = 1, kProtected = 2;

template <uint32_t channel, int64_t value> void becomes(ModelContext &ctx, const Event &event) {
  if (event.cpu != kNone)
    ctx.set(channel, event.cpu, value);
}

/// Handles (status, -): with status 1 "all the events belonging to that family are not logged". The
/// event is on the CPU of the program that asked, and applies to all CPUs.
void filter(ModelContext &ctx, const Event &event) {
  const int64_t family = int64_t(1) << (event.kind & FTrace_family_mask);
  each_cpu_of_host(ctx, event, [&](uint32_t cpu) {
    const int64_t filtered = ctx.value(kFilter, cpu);
    ctx.set(kFilter, cpu, event.par1 ? filtered | family : filtered & ~family);
  });
}

void data_pointer(ModelContext &ctx, const Event &event) {
  if (event.cpu == kNone)
    return;
  ctx.punctual(kPointer, event.cpu, event.par2);
  ctx.punctual(kPointerPar1, event.cpu, int64_t(event.par1) + 1);
}

std::vector<ValueLabel> one_family() {
  std::vector<ValueLabel> labels;
  for (const FamilyInfo &family : kManualFamilies)
    labels.push_back({int64_t(1) << family.number, fmt::format("Only {}", family.name)});
  return labels;
}

std::vector<EventDef> events() {
  std::vector<EventDef> all = {
      {FTrace_EVT_to_real_mode, becomes<kMode, kReal>, "mode 1", false},
      {FTrace_EVT_to_protected_mode, becomes<kMode, kProtected>, "mode 2", false},
      {FTrace_EVT_CLI, becomes<kInterruptsOff, 1>, "interrupts off 1", false},
      {FTrace_EVT_STI, becomes<kInterruptsOff, 0>, "interrupts off 0", false},
      {FTrace_EVT_data_pointer, data_pointer, "punctual: parameter 2, and parameter 1 + 1", false},
  };
  for (const FamilyInfo &family : kManualFamilies)
    all.push_back({uint32_t(FTrace_filter_trace_Events | family.number), filter,
                   "sets its bit on every CPU, or clears it with parameter 1 = 0", false});
  return all;
}

} // namespace

Model cpu_mode_model() {
  return {
      "CPU mode",
      "modes and filters of CPUs",
      {
          {.name = "mode",
           .label = "Mode of the CPU",
           .none = "Not known",
           .cpu_type = 470,
           .scope = Scope::cpu,
           .values = {{kReal, "Real"}, {kProtected, "Protected"}}},
          {.name = "interrupts off",
           .label = "Interrupts are off",
           .none = "On, or not known",
           .cpu_type = 471,
           .scope = Scope::cpu,
           .values = {{1, "Off"}}},
          {.name = "filtered families",
           .label = "Families of events that are not logged (bit n: family n)",
           .none = "All are logged",
           .cpu_type = 472,
           .scope = Scope::cpu,
           .values = one_family()},
          {.name = "data pointer",
           .label = "Pointer to data of the event before",
           .none = "No pointer",
           .cpu_type = 473,
           .scope = Scope::cpu,
           .paint = Paint::gradient},
          {.name = "data pointer's parameter 1",
           .label = "Parameter 1 of the data pointer, + 1",
           .cpu_type = 474,
           .scope = Scope::cpu},
      },
      events(),
  };
}

} // namespace ovnitrace
