// SPDX-License-Identifier: BSD-2-Clause
// What the parts of the ovni model share: its channels and the one way to change a thread.
#pragma once

#include "emulator/core/model.h"

#include <vector>

namespace ovnitrace::ovni_model_parts {

/// The model's channels, in the order of its table.
enum OvniChannel : uint32_t { kPid, kTid, kState, kCpu, kRunningThreads, kProcess, kFlush };

/// The thread that left a CPU last, and when; of each CPU, the state of the model. Only events of
/// ovni streams look at it.
struct Freed {
  uint64_t time = 0;
  uint32_t thread = kNone;
};

/// Puts a thread into a state and on a CPU and sets the channels of both. While events are being
/// lost somewhere, a thread that is not Running on a CPU that loses none could have been woken or
/// run there unseen: it becomes Unknown, unless it is dead, or events are missing only
/// because a flight recorder has forgotten them, and none of this thread is among them.
void put(ModelContext &ctx, uint32_t thread, ThreadState state, uint32_t cpu);

/// Events of the kernel's scheduler (FTrace records) and of instrumented programs (ovni streams).
std::vector<EventDef> kernel_events();
std::vector<EventDef> stream_events();

} // namespace ovnitrace::ovni_model_parts
