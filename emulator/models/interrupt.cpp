// SPDX-License-Identifier: BSD-2-Clause
// Shows which interrupt a CPU serves, and which thread it interrupts.
#include "emulator/models/host_rows.h"
#include "emulator/models/registry.h"
#include "emulator/models/value_labels.h"
#include <ovnitrace/ftrace_codes.h>

namespace ovnitrace {

namespace {

enum : uint32_t { kOnCpu, kOnThread, kCount };

constexpr size_t kMostNested = 16; // more than any hardware nests; others are not shown

/// An interrupt that is being served, and the interrupted thread (kNone: the idle task).
struct Served {
  int64_t value;
  uint32_t thread;
};
/// By CPU: the current interrupts, innermost last. Not a stack of a channel, because an end without
/// a start is legal: the interrupt began before the capture, or its start was lost.
using Nested = std::vector<std::vector<Served>>;

Nested &nested(ModelContext &ctx) {
  return ctx.own<Nested>();
}

void start(ModelContext &ctx) {
  ctx.keep(Nested(ctx.system.cpus().size()));
}

void show(ModelContext &ctx, uint32_t cpu) {
  const std::vector<Served> &served = nested(ctx)[cpu];
  ctx.set(kOnCpu, cpu, served.empty() ? 0 : served.back().value);
  if (!served.empty() && served.back().thread != kNone)
    ctx.set(kOnThread, served.back().thread, served.back().value);
}

/// Removes all from place `from` on.
void leave(ModelContext &ctx, uint32_t cpu, size_t from) {
  std::vector<Served> &served = nested(ctx)[cpu];
  for (size_t n = from; n < served.size(); n++)
    if (served[n].thread != kNone)
      ctx.set(kOnThread, served[n].thread, 0);
  served.resize(from);
  show(ctx, cpu);
}

void interrupt_start(ModelContext &ctx, const Event &event) {
  if (event.cpu == kNone)
    return;
  std::vector<Served> &served = nested(ctx)[event.cpu];
  if (served.size() < kMostNested)
    served.push_back({int64_t(event.par1) + 1, event.peer});
  show(ctx, event.cpu);
}

void interrupt_end(ModelContext &ctx, const Event &event) {
  if (event.cpu == kNone)
    return;
  std::vector<Served> &served = nested(ctx)[event.cpu];
  for (size_t n = served.size(); n-- > 0;)
    if (served[n].value == int64_t(event.par1) + 1)
      return leave(ctx, event.cpu, n);
}

void interrupt_hit(ModelContext &ctx, const Event &event) {
  if (event.cpu != kNone)
    ctx.punctual(kOnCpu, event.cpu, int64_t(event.par1) + 1);
}

void interrupt_count(ModelContext &ctx, const Event &event) {
  if (event.cpu != kNone)
    ctx.set(kCount, event.cpu, event.par2 ? event.par2 : event.par1);
}

/// Clears CPUs whose events are lost: what ended meanwhile is not known.
void blackout(ModelContext &ctx, const Event &event) {
  if (event.cpu != kNone)
    leave(ctx, event.cpu, 0);
}

/// Clears CPUs that do not log interrupts, on the whole host.
void filtered(ModelContext &ctx, const Event &event) {
  if (event.par1)
    each_cpu_of_host(ctx, event, [&](uint32_t cpu) { leave(ctx, cpu, 0); });
}

std::vector<ValueLabel> labels() {
  std::vector<ValueLabel> all;
  const auto add = [&](uint32_t par1) {
    all.push_back({par1 + 1, interrupt_name(uint16_t(par1))});
  };
  for (uint32_t irq = 0; irq < 256; irq++)
    add(irq);
  for (const ValueName &vector : kVectorNames)
    add(FTRACE_INTERRUPT_VECTOR | vector.value);
  for (const ValueName &soft : kSoftirqNames)
    add(FTRACE_INTERRUPT_SOFT | soft.value);
  return all;
}

} // namespace

Model interrupt_model() {
  return {
      "interrupt",
      "what interrupts CPUs and threads",
      {
          {.name = "interrupt",
           .label = "Interrupt that the CPU serves",
           .none = "No interrupt",
           .cpu_type = 400,
           .scope = Scope::cpu,
           .values = labels()},
          {.name = "interrupted by",
           .label = "Interrupt that takes the thread's time",
           .none = "No interrupt",
           .thread_type = 401,
           .values = labels()},
          {.name = "interrupts",
           .label = "Interrupts since the last count",
           .cpu_type = 402,
           .scope = Scope::cpu,
           .paint = Paint::gradient},
      },
      {
          {FTrace_EVT_interrupt_start, interrupt_start,
           "parameter 1 + 1 on the CPU, and on the thread whose tid is in parameter 2", false},
          {FTrace_EVT_interrupt_end, interrupt_end, "the interrupt that was interrupted, or 0",
           false},
          {FTrace_EVT_interrupt_hit, interrupt_hit, "punctual: parameter 1 + 1 on the CPU", false},
          {FTrace_EVT_interrupt_count, interrupt_count, "how many were counted", false},
          {FTrace_EVT_blackout_start, blackout, "no interrupt", false},
          {FTrace_EVT_blackout_end, blackout, "no interrupt", false},
          {FTrace_filter_interrupt, filtered, "with parameter 1 = 1: no interrupt", false},
      },
      start,
  };
}

} // namespace ovnitrace
