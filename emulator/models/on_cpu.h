// SPDX-License-Identifier: BSD-2-Clause
// Checks events that a thread can log only while it is on its CPU: all of ovni's own model.
#pragma once

#include "emulator/core/model.h"

namespace ovnitrace {

/// Reports that the thread of the event is out of its CPU.
void report_out_of_cpu(ModelContext &ctx, const Event &event);

/// Calls the handler, if any. Reports an event between KCO and KCI.
template <EventHandler handle = nullptr> void on_cpu(ModelContext &ctx, const Event &event) {
  if (ctx.system.threads()[event.thread].out_of_cpu)
    report_out_of_cpu(ctx, event);
  if constexpr (handle != nullptr)
    handle(ctx, event);
}

} // namespace ovnitrace
