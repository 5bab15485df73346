// SPDX-License-Identifier: BSD-2-Clause
// Recognizes the time in which a started program waits until ovnitrace lets it run.
#pragma once

#include "emulator/slices/slice.h"

#include <ovnitrace/ftrace_codes.h>

namespace ovnitrace {

/// A program that ovnitrace starts blocks in its main thread before its first execve, until the
/// capture is ready. Waits for a CPU in that time count as usual.
class StartGate {
public:
  /// `program`: index of the main thread, kNone if ovnitrace started no program.
  explicit StartGate(uint32_t program) : program_(program) {}

  /// Takes each event of the replay, before the slices that it ends. The gate stays open in a trace
  /// without the thread's creation, which may lack its execve too.
  void event(const Event &event) {
    if (event.kind == FTrace_EVT_blackout_start)
      closed_ = false;
    else if (event.thread == program_ && event.kind == FTrace_EVT_task_create)
      closed_ = true;
    else if (event.thread == program_ && event.kind == FTrace_EXT_exec)
      closed_ = false;
  }
  /// Returns whether the thread is blocked at the gate in this slice.
  bool is_closed(const Slice &slice) const {
    return closed_ && slice.thread == program_ && is_blocked(slice.state);
  }

private:
  uint32_t program_;
  bool closed_ = false;
};

} // namespace ovnitrace
