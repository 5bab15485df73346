// SPDX-License-Identifier: BSD-2-Clause
// The wait of a program for ovnitrace, which lets it run when the capture is ready.
#pragma once

#include "emulator/slices/slice.h"

#include <ovnitrace/ftrace_codes.h>

namespace ovnitrace {

/// Until its first execve the main thread of a program that ovnitrace started is blocked only until
/// ovnitrace lets it run. Waits for a CPU count: somebody has that CPU.
class StartGate {
public:
  /// `program`: index of that thread; kNone: ovnitrace has started none.
  explicit StartGate(uint32_t program) : program_(program) {}

  /// Each event of the replay, before the slices that it ends. A trace that lacks the thread's
  /// creation (a region, a flight recorder, a cut) may lack its execve: the gate is open then.
  void event(const Event &event) {
    if (event.kind == FTrace_EVT_blackout_start)
      closed_ = false;
    else if (event.thread == program_ && event.kind == FTrace_EVT_task_create)
      closed_ = true;
    else if (event.thread == program_ && event.kind == FTrace_EXT_exec)
      closed_ = false;
  }
  /// Whether it waits at the gate in this slice.
  bool is_closed(const Slice &slice) const {
    return closed_ && slice.thread == program_ && slice.state == ThreadState::Paused;
  }

private:
  uint32_t program_;
  bool closed_ = false;
};

} // namespace ovnitrace
