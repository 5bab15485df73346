// The kernel model of ovni streams: context switches as perf told them to the instrumented program.
#include "emulator/models/registry.h"

namespace ovnitrace {

namespace {

constexpr uint32_t kContextSwitch = 0;
constexpr int64_t kOutOfCpu = 3; // ST_CSOUT of ovni

void out(ModelContext &ctx, const Event &event) {
  ctx.push(event, kContextSwitch, event.thread, kOutOfCpu);
}

void in(ModelContext &ctx, const Event &event) {
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
           .thread_type = 45,
           .cpu_type = 45,
           .cpu_track = Track::running,
           .values = {{kOutOfCpu, "Context switch: Out of the CPU"}}},
      },
      {
          {mcv('K', 'C', 'O'), "KCO", out, "out of the CPU: pushes 3"},
          {mcv('K', 'C', 'I'), "KCI", in, "back on the CPU: pops 3"},
      },
      {},
  };
}

} // namespace ovnitrace
