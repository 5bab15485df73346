// SPDX-License-Identifier: BSD-2-Clause
// The tracer of SingleStep: what its process does.
#pragma once

#include "user/control/plan.h"
#include "user/control/programs.h"
#include "user/control/step_message.h"

#include <csignal>
#include <cstdint>
#include <map>
#include <sys/types.h>

namespace ovnitrace::control {

/// Traces threads (PTRACE_SEIZE) until the other end of the socket is closed. A thread for which an
/// icount is armed executes one instruction at a time, and each is a hit. The other threads run
/// freely. All other signals, stops included, have the same effect as without a tracer.
class Tracer {
public:
  Tracer(const Plan &plan, Programs &programs, int socket);
  void run();

private:
  struct Thread {
    uint32_t pid = 0;      ///< 0: not known yet
    bool stepping = false; ///< when it runs, it stops after an instruction
    bool in_exec = false;  ///< the stop at the end of execve is of no instruction of the new image
    bool held = false;     ///< until release
  };

  bool take_messages();
  void take(const StepMessage &message);
  int seize(uint32_t tid);
  void look(uint32_t pid);
  void let_all_go();

  void take_event(pid_t tid, int status);
  void take_stop(pid_t tid, int event, int signal);
  void take_signal(pid_t tid, Thread &thread, int signal);
  void let_go(pid_t tid, int event, int signal);

  control_hit hit(pid_t tid, Thread &thread, uint64_t alarms);
  bool hold(pid_t tid, Thread &thread, const control_hit &seen);
  void resume(pid_t tid, const Thread &thread, int signal = 0);

  Programs &programs_;
  const int socket_;
  uint64_t counts_ = 0, traps_ = 0; ///< alarms of type icount and int3, a bit each
  std::map<pid_t, Thread> threads_;
  bool ending_ = false;
};

} // namespace ovnitrace::control
