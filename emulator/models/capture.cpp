// What the capture itself says: where events were lost, and how many.
#include "emulator/models/registry.h"

#include <ovnitrace/ftrace_codes.h>

namespace ovnitrace {

namespace {

enum : uint32_t { kBlackout, kLost, kFamilies };

uint32_t channel_of(const Event &event) {
  return event.par1 == FTRACE_BLACKOUT_FAMILIES ? kFamilies : kBlackout;
}

void blackout_start(ModelContext &ctx, const Event &event) {
  if (event.cpu != kNone)
    ctx.set(channel_of(event), event.cpu, 1);
}

void blackout_end(ModelContext &ctx, const Event &event) {
  if (event.cpu == kNone)
    return;
  ctx.set(channel_of(event), event.cpu, 0);
  if (event.par2)
    ctx.punctual(kLost, event.cpu, event.par2);
}

} // namespace

Model capture_model() {
  return {
      "capture",
      "where events were lost",
      {
          {.name = "blackout",
           .label = "Events are being lost",
           .cpu_type = 10,
           .scope = Scope::cpu,
           .values = {{1, "Blackout"}}},
          {.name = "lost events",
           .label = "Events that were lost",
           .cpu_type = 11,
           .scope = Scope::cpu,
           .paint = Paint::gradient},
          {.name = "blackout of families",
           .label = "Events that are not the scheduler's are being lost",
           .cpu_type = 12,
           .scope = Scope::cpu,
           .values = {{1, "Blackout"}}},
      },
      {
          {FTrace_EVT_trace_start, "trace_start", nullptr, "the capture begins; no effect", false},
          {FTrace_EVT_trace_stop, "trace_stop", nullptr, "the capture ends; no effect", false},
          {FTrace_EVT_blackout_start, "blackout_start", blackout_start, "blackout becomes 1",
           false},
          {FTrace_EVT_blackout_end, "blackout_end", blackout_end,
           "blackout becomes 0; lost events: a punctual event with how many", false},
      },
      {},
  };
}

} // namespace ovnitrace
