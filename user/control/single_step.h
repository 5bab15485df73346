// SPDX-License-Identifier: BSD-2-Clause
// Executes threads of traced programs one instruction at a time, for icount, and takes the traps of
// int3, by ptrace.
#pragma once

#include "emulator/base/unique_fd.h"
#include "user/control/plan.h"
#include "user/control/programs.h"

#include <cstdint>
#include <optional>
#include <sys/types.h>

namespace ovnitrace::control {

/// The tracer is a process of its own. Where a tracer ends between two instructions, the thread
/// that it steps is killed by the trap of the second: so ovnitrace may be killed at any time, and
/// this process, which notices, lets go of all threads first. It also keeps the tracees' ends and
/// stops from who waits for the program.
class SingleStep {
public:
  /// Starts the process; no other thread may be there. `programs` outlives it. Throws Error.
  SingleStep(const Plan &plan, Programs &programs);
  /// Lets all threads go, and waits for that.
  ~SingleStep();
  SingleStep(const SingleStep &) = delete;
  SingleStep &operator=(const SingleStep &) = delete;

  /// From now on the thread is traced, and all threads and processes that it creates. Returns when
  /// it is; before anything is read from file(). Throws Error.
  void trace(uint32_t tid);
  /// Alarms may have been armed on behalf of the threads of a process (0: of all), or of one of
  /// them, `tid`: they are stopped and asked. Threads with chains that are not traced yet are from
  /// here on.
  void look(uint32_t pid, uint32_t tid = 0);

  /// A process that has loaded code, one of whose threads waits for release().
  struct Held {
    uint32_t pid = 0, tid = 0;
  };
  int file() const { return socket_.get(); } ///< to be polled
  /// Nothing: none at the moment. Throws Error, once, where the tracer is gone.
  std::optional<Held> next_held();
  void release(uint32_t tid);

private:
  Programs &programs_;
  UniqueFd socket_;
  pid_t process_ = -1;
};

} // namespace ovnitrace::control
