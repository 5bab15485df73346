// SPDX-License-Identifier: BSD-2-Clause
// Shares the channels of the ovni model and the one way to change a thread between its parts.
#pragma once

#include "emulator/core/model.h"

#include <vector>

namespace ovnitrace::ovni_model_parts {

/// The model's channels, in the order of its table.
enum OvniChannel : uint32_t { kPid, kTid, kState, kCpu, kRunningThreads, kProcess, kFlush };

/// By CPU: which thread left it last, and when. State of the model, used for ovni streams only.
struct Freed {
  uint64_t time = 0;
  uint32_t thread = kNone;
};

/// Puts a thread into a state and on a CPU, and sets the channels of both. While events are being
/// lost, a thread that is not Running on a CPU without losses may have been woken or run unseen. It
/// becomes Unknown, unless it is dead, or a flight recorder forgot events and none of this thread's
/// is among them.
void put(ModelContext &ctx, uint32_t thread, ThreadState state, uint32_t cpu);

/// Return the events of the kernel's scheduler (FTrace records) and of instrumented programs (ovni
/// streams).
std::vector<EventDef> kernel_events();
std::vector<EventDef> stream_events();

} // namespace ovnitrace::ovni_model_parts
