// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/models/user_thread.h"

#include <fmt/format.h>

namespace ovnitrace {

uint32_t running_thread(const System &system, uint32_t cpu) {
  if (cpu == kNone || system.cpus()[cpu].running.count() != 1)
    return kNone;
  return system.cpus()[cpu].running.only();
}

uint32_t user_thread(ModelContext &ctx, const Event &event) {
  if (event.thread != kNone)
    return event.thread;
  const uint32_t running = running_thread(ctx.system, event.cpu);
  const uint32_t host = ctx.system.host_of(event.cpu);
  if (running == kNone && (host == kNone || !ctx.system.any_blackout(host)))
    ctx.faults.add(event, [&] {
      return fmt::format("user event on {}, where no known thread runs",
                         cpu_name(ctx.system, event.cpu));
    });
  return running;
}

} // namespace ovnitrace
