// SPDX-License-Identifier: BSD-2-Clause
// Says why a thread is in the state in which the capture, or a part of the trace, finds it.
#pragma once

#include "emulator/format/event.h"
#include "emulator/format/thread_state.h"

namespace ovnitrace {

/// Returns whether an event says in which state a thread is already.
constexpr bool gives_state(const Event &event) {
  return event.kind == FTrace_EXT_snapshot || event.kind == FTrace_EXT_state;
}

/// Returns why a thread is in the state that an event gives: enum ftrace_offcpu_reason; 0: not
/// known, or the event gives no state. Snapshots of older versions lack the reason of a thread that
/// waits for a CPU.
constexpr uint8_t found_reason(const Event &event) {
  if (!gives_state(event))
    return 0;
  const bool waits = (event.par2 & FTRACE_SNAPSHOT_STATE_MASK) == uint32_t(ThreadState::Warming);
  return waits && event.kind == FTrace_EXT_snapshot ? uint8_t(FTRACE_OFFCPU_WAITED)
                                                    : event.reason();
}

} // namespace ovnitrace
