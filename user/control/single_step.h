// SPDX-License-Identifier: BSD-2-Clause
// Executes threads of traced programs one instruction at a time, for icount, and takes the traps of
// int3. It uses ptrace.
#pragma once

#include "emulator/base/unique_fd.h"
#include "user/control/chains.h"
#include "user/control/plan.h"

#include <cstdint>
#include <optional>
#include <sys/types.h>

namespace ovnitrace::control {

/// Runs the tracer as a process of its own. If a tracer ends between two instructions, the trap of
/// the second one kills the thread that it steps. The separate process notices when ovnitrace is
/// killed, and first lets go of all threads. It also hides the stops and ends of traced threads
/// from the process that waits for the program.
class SingleStep {
public:
  /// Starts the process; no other thread may be there. `chains` outlives it. Throws Error.
  SingleStep(const Plan &plan, Chains &chains);
  /// Lets all threads go, and waits until it is done.
  ~SingleStep();

  /// Traces the thread from now on, and all threads and processes that it creates. Returns when it
  /// is traced. Call it before anything is read from file(). Throws Error.
  void trace(uint32_t tid);
  /// Stops and asks threads for which alarms may have been armed: those of the process `pid` (0: of
  /// all), or only the thread `tid`. Threads with chains that are not traced yet are traced from
  /// here on.
  void look(uint32_t pid, uint32_t tid = 0);

  /// A process that has loaded code. Its thread `tid` waits for release().
  struct Held {
    uint32_t pid = 0, tid = 0;
  };
  int file() const { return socket_.get(); } ///< to be polled
  /// Returns the next waiting process, or nothing. Throws Error, once, when the tracer is gone.
  std::optional<Held> next_held();
  void release(uint32_t tid);

private:
  Chains &chains_;
  UniqueFd socket_;
  pid_t process_ = -1;
};

} // namespace ovnitrace::control
