#include "emulator/models/user_thread.h"

#include <fmt/format.h>

namespace ovnitrace {

uint32_t user_thread(ModelContext &ctx, const Event &event) {
  if (event.thread != kNone)
    return event.thread;
  if (event.cpu != kNone && ctx.system.cpus()[event.cpu].running.count() == 1)
    return ctx.system.cpus()[event.cpu].running.only();
  if (!ctx.system.any_blackout())
    ctx.faults.add(event, [&] {
      return fmt::format("user event on {}, where no known thread runs",
                         cpu_name(ctx.system, event.cpu));
    });
  return kNone;
}

} // namespace ovnitrace
