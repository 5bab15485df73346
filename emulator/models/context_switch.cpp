// SPDX-License-Identifier: BSD-2-Clause
// The kernel model of ovni streams: context switches that the instrumented program got from perf.
#include "emulator/models/registry.h"

#include <fmt/format.h>

namespace ovnitrace {

namespace {

constexpr uint32_t kContextSwitch = 0;
constexpr int64_t kOutOfCpu = 3; // ST_CSOUT of ovni

void out(ModelContext &ctx, const Event &event) {
  if (ctx.system.threads()[event.thread].out_of_cpu) {
    ctx.faults.add(event, [&] {
      return fmt::format("KCO: {} is out of the CPU already",
                         thread_name(ctx.system.catalog(), event.thread));
    });
    return;
  }
  ctx.system.set_out_of_cpu(event.thread, true);
  ctx.push(event, kContextSwitch, event.thread, kOutOfCpu);
}

void in(ModelContext &ctx, const Event &event) {
  ctx.system.set_out_of_cpu(event.thread, false);
  ctx.pop(event, kContextSwitch, event.thread, kOutOfCpu);
}

} // namespace

Model context_switch_model() {
  return {
      "context switch",
      "context switches in ovni streams",
      {
          {.name = "context switch",
           .label = "Kernel context switch",
           .none = "On the CPU",
           .thread_type = 45,
           .cpu_type = 45,
           .cpu_track = Track::running,
           .values = {{kOutOfCpu, "Context switch: Out of the CPU"}}},
      },
      {
          {mcv('K', 'C', 'O'), out, "out of the CPU: pushes 3"},
          {mcv('K', 'C', 'I'), in, "back on the CPU: pops 3"},
      },
  };
}

} // namespace ovnitrace
