// SPDX-License-Identifier: BSD-2-Clause
// Checks events that a thread can log only while it is on its CPU: all of ovni's own model.
#pragma once

#include "emulator/core/model.h"
#include "emulator/format/event_names.h"

#include <fmt/format.h>

namespace ovnitrace {

/// Calls the handler, if any. Reports an event between KCO and KCI.
template <EventHandler handle = nullptr> void on_cpu(ModelContext &ctx, const Event &event) {
  if (ctx.system.threads()[event.thread].out_of_cpu)
    ctx.faults.add(event, [&] {
      return fmt::format("{} of {}, which is out of its CPU since KCO", kind_name(event.kind),
                         thread_name(ctx.system.catalog(), event.thread));
    });
  if constexpr (handle != nullptr)
    handle(ctx, event);
}

} // namespace ovnitrace
