// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/models/on_cpu.h"

#include "emulator/format/event_names.h"

#include <fmt/format.h>

namespace ovnitrace {

void report_out_of_cpu(ModelContext &ctx, const Event &event) {
  ctx.faults.add(event, [&] {
    return fmt::format("{} of {}, which is out of its CPU since KCO", kind_name(event.kind),
                       thread_name(ctx.system.catalog(), event.thread));
  });
}

} // namespace ovnitrace
