// SPDX-License-Identifier: BSD-2-Clause
#include "user/control/tracer.h"

#include "emulator/base/clock.h"
#include "emulator/base/messages.h"
#include "user/control/process_name.h"

#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <iterator>
#include <utility>
#include <vector>

namespace ovnitrace::control {

namespace {

constexpr uint64_t kPatience = 2'000'000'000; ///< ns that threads have to stop in at the end

constexpr unsigned long kOptions =
    PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC;

/// Errors are ignored: a thread that has ended needs nothing.
void request(__ptrace_request what, pid_t tid, long data = 0) {
  ptrace(what, tid, nullptr, data);
}

bool is_group_stop(int signal) {
  return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

/// Returns what the kernel says of the signal for which a thread has stopped. Where it says
/// nothing, a SIGTRAP counts as one of the tracer's single steps: it would kill the thread.
siginfo_t signal_of(pid_t tid, int signal) {
  siginfo_t info = {};
  if (ptrace(PTRACE_GETSIGINFO, tid, nullptr, &info) != 0) {
    info.si_signo = signal;
    info.si_code = signal == SIGTRAP ? SIGTRAP : SI_USER;
  }
  return info;
}

/// Returns whether a signal was sent to the thread because it is traced.
bool is_of_tracer(const siginfo_t &info, bool stepping, bool takes_int3) {
  if (info.si_signo == SIGSTOP)
    return info.si_code == SI_KERNEL;
  if (info.si_signo != SIGTRAP)
    return false;
  if (info.si_code == SI_KERNEL)
    return takes_int3;
  // After an instruction, a system call, at a handler; after an instruction that has a uprobe.
  return stepping && (info.si_code == TRAP_TRACE || info.si_code == TRAP_BRKPT ||
                      info.si_code == SIGTRAP || info.si_code == SI_USER);
}

} // namespace

bool send_step(int socket, const StepMessage &message) {
  return send(socket, &message, sizeof(message), MSG_NOSIGNAL) >= 0 || errno != EAGAIN;
}

Tracer::Tracer(const Plan &plan, Chains &chains, int socket) : chains_(chains), socket_(socket) {
  for (size_t a = 0; a < plan.alarm_table.size(); a++) {
    counts_ |= uint64_t(plan.alarm_table[a].type == CONTROL_ICOUNT) << a;
    traps_ |= uint64_t(plan.alarm_table[a].type == CONTROL_INT3) << a;
  }
}

void Tracer::run() {
  call_process("ovt-steps");
  sigset_t all, awaited;
  sigfillset(&all); // what ends ovnitrace ends us by the socket
  sigprocmask(SIG_BLOCK, &all, nullptr);
  sigemptyset(&awaited);
  sigaddset(&awaited, SIGCHLD);
  sigaddset(&awaited, SIGIO);
  fcntl(socket_, F_SETOWN, getpid());
  fcntl(socket_, F_SETFL, O_ASYNC | O_NONBLOCK);
  uint64_t end = 0;
  std::vector<std::pair<pid_t, int>> stopped;
  for (;;) {
    // All that have stopped before the first goes on: one that is stepped has soon stopped again,
    // and would be taken before the others for ever.
    stopped.clear();
    int status;
    for (pid_t tid; (tid = waitpid(-1, &status, __WALL | WNOHANG)) > 0;)
      stopped.emplace_back(tid, status);
    for (const auto &[tid, why] : stopped)
      take_event(tid, why);
    send_waiting();
    if (!ending_ && !take_messages()) {
      let_all_go();
      end = monotonic_ns() + kPatience;
    }
    if (ending_ && (threads_.empty() || monotonic_ns() > end))
      return;
    if (!stopped.empty())
      continue;
    const timespec moment = {0, 100'000'000};
    sigtimedwait(&awaited, nullptr, ending_ || !unsent_.empty() ? &moment : nullptr);
  }
}

/// Sends a message. A lost message would hold its thread for ever, so it is kept until it is sent.
void Tracer::tell(const StepMessage &message) {
  unsent_.push_back(message);
  send_waiting();
}

void Tracer::send_waiting() {
  while (!unsent_.empty() && send_step(socket_, unsent_.front()))
    unsent_.pop_front();
}

/// Takes messages. Returns false if the other end is closed.
bool Tracer::take_messages() {
  StepMessage message;
  for (;;) {
    const ssize_t bytes = recv(socket_, &message, sizeof(message), 0);
    if (bytes == sizeof(message))
      take(message);
    else if (bytes >= 0 || errno != EINTR) // no further signal says that a message waits
      return bytes < 0 && errno == EAGAIN;
  }
}

void Tracer::take(const StepMessage &message) {
  switch (message.kind) {
  case StepMessage::trace: {
    const int error = seize(message.tid);
    tell({StepMessage::trace, 0, message.tid, error});
    return;
  }
  case StepMessage::look:
    if (message.tid)
      request(PTRACE_INTERRUPT, pid_t(message.tid));
    else
      look(message.pid);
    return;
  case StepMessage::release: {
    const auto found = threads_.find(pid_t(message.tid));
    if (found != threads_.end() && found->second.held) {
      found->second.held = false;
      resume(found->first, found->second);
    }
    return;
  }
  case StepMessage::held:
    return;
  }
}

/// 0 or an errno.
int Tracer::seize(uint32_t tid) {
  if (ptrace(PTRACE_SEIZE, pid_t(tid), nullptr, kOptions) != 0)
    return errno;
  threads_.try_emplace(pid_t(tid));
  return 0;
}

/// Traces the threads of a process, until no new ones appear: a thread that is not yet traced may
/// create others meanwhile.
void Tracer::look(uint32_t pid) {
  for (bool more = true; more;) {
    more = false;
    for (const auto &[tid, process] : chains_.threads(pid))
      if (!threads_.count(pid_t(tid)) && seize(tid) == 0) {
        threads_[pid_t(tid)].pid = process;
        more = true;
      }
  }
  for (const auto &[tid, thread] : threads_)
    if (!pid || thread.pid == pid)
      request(PTRACE_INTERRUPT, tid);
}

/// Traces no more threads. A traced thread goes when it has stopped, and when no signal of ours is
/// on its way to it.
void Tracer::let_all_go() {
  ending_ = true;
  chains_.stop_for_tracer(false);
  std::vector<pid_t> held;
  for (const auto &[tid, thread] : threads_) {
    request(PTRACE_INTERRUPT, tid);
    if (thread.held)
      held.push_back(tid);
  }
  for (pid_t tid : held)
    let_go(tid, 0, 0);
}

void Tracer::take_event(pid_t tid, int status) {
  if (!WIFSTOPPED(status)) {
    threads_.erase(tid);
    return;
  }
  const int event = status >> 16;
  if (ending_)
    let_go(tid, event, WSTOPSIG(status));
  else
    take_stop(tid, event, WSTOPSIG(status));
}

void Tracer::take_stop(pid_t tid, int event, int signal) {
  const auto [found, is_new] = threads_.try_emplace(tid);
  Thread &thread = found->second;
  switch (event) {
  case 0:
    take_signal(tid, thread, signal);
    return;
  case PTRACE_EVENT_STOP: {
    if (is_group_stop(signal)) {
      request(PTRACE_LISTEN, tid);
      return;
    }
    const control_hit seen = hit(tid, thread, 0);
    if (seen.result & CONTROL_NO_THREAD && is_new) { // of no traced process
      request(PTRACE_DETACH, tid);
      threads_.erase(tid);
      return;
    }
    if (hold(tid, thread, seen))
      return;
    break;
  }
  case PTRACE_EVENT_EXEC: {
    unsigned long former = 0;
    ptrace(PTRACE_GETEVENTMSG, tid, nullptr, &former);
    if (pid_t(former) != tid)
      threads_.erase(pid_t(former));
    thread = {};
    const control_hit seen = hit(tid, thread, 0);
    thread.in_exec = thread.stepping;
    if (hold(tid, thread, seen))
      return;
    break;
  }
  default:
    break;
  }
  resume(tid, thread);
}

/// Returns whether it waits, from now on, until its probes are set.
bool Tracer::hold(pid_t tid, Thread &thread, const control_hit &seen) {
  if (!(seen.result & CONTROL_HELD))
    return false;
  thread.held = true;
  tell({StepMessage::held, seen.pid, uint32_t(tid)});
  return true;
}

void Tracer::take_signal(pid_t tid, Thread &thread, int signal) {
  const siginfo_t info = signal_of(tid, signal);
  if (!is_of_tracer(info, thread.stepping, traps_)) {
    resume(tid, thread, signal);
    return;
  }
  if (signal == SIGSTOP) {
    if (hold(tid, thread, hit(tid, thread, 0)))
      return;
  } else if (info.si_code == SI_KERNEL) {
    hit(tid, thread, traps_);
  } else if (info.si_code == TRAP_BRKPT && std::exchange(thread.in_exec, false)) {
    // none of its instructions
  } else if (info.si_code != SIGTRAP) { // that one is before the first instruction of a handler
    thread.stepping = false;
    hit(tid, thread, counts_);
  }
  resume(tid, thread);
}

/// Notes whether its instructions are to be counted now. Where they were, they are until the one
/// that it executes has been.
control_hit Tracer::hit(pid_t tid, Thread &thread, uint64_t alarms) {
  try {
    const control_hit seen = chains_.hit(0, uint32_t(tid), alarms);
    thread.pid = seen.pid;
    thread.stepping |= bool(seen.result & CONTROL_STEPPING);
    return seen;
  } catch (const std::exception &error) {
    print("--control: {}", error.what());
    return {};
  }
}

void Tracer::resume(pid_t tid, const Thread &thread, int signal) {
  request(thread.stepping ? PTRACE_SINGLESTEP : PTRACE_CONT, tid, signal);
}

/// Lets a thread go, but not before all signals of ours that are on their way have come.
void Tracer::let_go(pid_t tid, int event, int signal) {
  const Thread &thread = threads_[tid];
  if (event != 0 || !signal || is_of_tracer(signal_of(tid, signal), thread.stepping, traps_))
    signal = 0;
  siginfo_t pending[8];
  const __ptrace_peeksiginfo_args all = {0, 0, std::size(pending)};
  const long count = ptrace(PTRACE_PEEKSIGINFO, tid, &all, pending);
  for (long n = 0; n < count; n++)
    if (is_of_tracer(pending[n], thread.stepping, traps_)) {
      request(PTRACE_CONT, tid, signal);
      return;
    }
  request(PTRACE_DETACH, tid, signal);
  threads_.erase(tid);
}

} // namespace ovnitrace::control
