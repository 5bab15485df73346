// SPDX-License-Identifier: BSD-2-Clause
// Runs in the process of SingleStep: traces threads with ptrace.
#pragma once

#include "user/control/chains.h"
#include "user/control/plan.h"

#include <csignal>
#include <cstdint>
#include <deque>
#include <map>
#include <sys/types.h>

namespace ovnitrace::control {

/// What SingleStep and its tracer say to one another, over a socket that keeps messages apart.
struct StepMessage {
  enum Kind : uint32_t {
    trace,   ///< to the tracer: a thread, `tid`; and back, with `error`, an errno
    look,    ///< to the tracer: at threads of `pid` (0: all), or one of them, `tid`
    held,    ///< from the tracer: a thread waits
    release, ///< to the tracer: it may go on
  };
  Kind kind;
  uint32_t pid, tid;
  int32_t error = 0;
};

/// Sends a message. The other end may be gone: the receiver that waits for an answer notices that.
/// Returns false if the socket is full and does not wait.
bool send_step(int socket, const StepMessage &message);

/// Traces threads (PTRACE_SEIZE) until the other end of the socket is closed. A thread of which an
/// icount is armed goes from instruction to instruction, each a hit; the others run freely. What
/// other signals there are, stops among them, have the effect that they have without a tracer.
class Tracer {
public:
  Tracer(const Plan &plan, Chains &chains, int socket);
  void run();

private:
  struct Thread {
    uint32_t pid = 0;      ///< 0: not known yet
    bool stepping = false; ///< when it runs, it stops after an instruction
    bool in_exec = false;  ///< the stop at the end of execve is of no instruction of the new image
    bool held = false;     ///< until release
  };

  void tell(const StepMessage &message);
  void send_waiting();
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

  Chains &chains_;
  const int socket_;
  uint64_t counts_ = 0, traps_ = 0; ///< alarms of type icount and int3, a bit each
  std::map<pid_t, Thread> threads_;
  std::deque<StepMessage> unsent_; ///< found the socket full
  bool ending_ = false;
};

} // namespace ovnitrace::control
