// SPDX-License-Identifier: BSD-2-Clause
// Shares the channels of the ovni model and the one way to change a thread between its parts.
#pragma once

#include "emulator/core/model.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ovnitrace::ovni_model_parts {

/// The model's channels, in the order of its table.
enum OvniChannel : uint32_t { kPid, kTid, kState, kCpu, kRunningThreads, kProcess, kFlush };

/// The state of the model.
struct OvniState {
  /// Which thread left a CPU last, and when.
  struct Freed {
    uint64_t time = 0;
    uint32_t thread = kNone;
  };
  std::vector<Freed> freed;                                   ///< by CPU; of ovni streams only
  std::map<std::pair<uint32_t, uint32_t>, int64_t> processes; ///< numbers, by host and pid
};

inline std::string who(const ModelContext &ctx, uint32_t thread) {
  return thread_name(ctx.system.catalog(), thread);
}

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
