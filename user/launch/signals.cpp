// SPDX-License-Identifier: BSD-2-Clause
#include "user/launch/signals.h"

#include "emulator/base/clock.h"
#include "emulator/base/error.h"

#include <fmt/core.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <iterator>

namespace ovnitrace {

namespace {

/// What a person or a script sends to a program, that would end one which does not expect it.
constexpr int kSignals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGALRM, SIGUSR1, SIGUSR2};
constexpr size_t kCount = sizeof(kSignals) / sizeof(*kSignals);

/// Dispositions that are ours while we trace.
struct Disposition {
  int signal;
  void (*ours)(int);
  struct sigaction original;
};
Disposition dispositions[] = {
    {SIGCHLD, SIG_DFL, {}}, {SIGXFSZ, SIG_IGN, {}}, {SIGPIPE, SIG_IGN, {}}};

struct sigaction original[kCount];
sigset_t original_mask;
std::atomic<pid_t> program{0};
std::atomic<int> held{0};
std::atomic<int> left_before_end{-1}; ///< signals that do not end us; -1: none does
sigset_t not_taken;                   ///< those that a StopSignals waits for

bool has_it(pid_t its, int signal, const siginfo_t &info) {
  const bool of_a_process = info.si_code <= 0; // SI_USER and the like
  const bool typed = !of_a_process && (signal == SIGINT || signal == SIGQUIT);
  return of_a_process ? info.si_pid == its : typed && getpgid(its) == getpgrp();
}

void take(int signal, siginfo_t *info, void *) {
  const int saved = errno;
  const pid_t to = program.load();
  if (to > 0) {
    if (!has_it(to, signal, *info))
      kill(to, signal);
  } else if (left_before_end.load() < 0) {
    held = signal;
  } else if (left_before_end.fetch_sub(1) == 0) {
    end_on_signals();
    raise(signal);
  }
  errno = saved;
}

} // namespace

sigset_t ending_signals() {
  sigset_t ending;
  sigemptyset(&ending);
  for (const int signal : {SIGINT, SIGQUIT, SIGTERM})
    sigaddset(&ending, signal);
  struct sigaction hangup = {};
  if (sigaction(SIGHUP, nullptr, &hangup) != 0 || hangup.sa_handler != SIG_IGN)
    sigaddset(&ending, SIGHUP);
  return ending;
}

void hold_signals() {
  sigprocmask(SIG_SETMASK, nullptr, &original_mask);
  for (size_t n = 0; n < kCount; n++) {
    struct sigaction action = {};
    action.sa_sigaction = take;
    action.sa_flags = SA_SIGINFO;
    for (int signal : kSignals)
      sigaddset(&action.sa_mask, signal); // one at a time
    sigaction(kSignals[n], &action, &original[n]);
    if (original[n].sa_handler == SIG_IGN) // nohup and the like: stays ignored
      sigaction(kSignals[n], &original[n], nullptr);
  }
  for (Disposition &its : dispositions) {
    struct sigaction action = {};
    action.sa_handler = its.ours;
    sigaction(its.signal, &action, &its.original);
  }
}

void restore_signals() {
  end_on_signals();
  for (const Disposition &its : dispositions)
    sigaction(its.signal, &its.original, nullptr);
  sigprocmask(SIG_SETMASK, &original_mask, nullptr);
  if (int signal = held)
    raise(signal);
}

int held_signal() {
  sigset_t waiting;
  sigpending(&waiting);
  for (int signal : kSignals)
    if (sigismember(&not_taken, signal) == 1 && sigismember(&waiting, signal) == 1)
      return signal;
  return held;
}

void end_if_signalled() {
  if (int signal = held_signal())
    throw Error(fmt::format("stopped by signal {} before the capture started", signal),
                Error::Status{128 + signal});
}

void end_on_second_signal() {
  left_before_end = 1;
}

void end_on_signals() {
  for (size_t n = 0; n < kCount; n++)
    sigaction(kSignals[n], &original[n], nullptr);
}

SignalForwarder::SignalForwarder(pid_t pid) {
  program = pid;
}

SignalForwarder::~SignalForwarder() {
  program = 0;
}

StopSignals::StopSignals(int but) {
  sigset_t stops = ending_signals();
  for (const int signal : {SIGALRM, SIGUSR1, SIGUSR2})
    sigaddset(&stops, signal);
  if (but)
    sigdelset(&stops, but);
  pthread_sigmask(SIG_BLOCK, &stops, &before_);
  not_taken = stops;
  file_ = UniqueFd(signalfd(-1, &stops, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!file_)
    throw Error("cannot wait for signals: {}", std::strerror(errno));
  if (int signal = held)
    raise(signal); // it came between hold_signals() and here: it waits for wait() too
}

StopSignals::~StopSignals() {
  sigemptyset(&not_taken);
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

/// Waits up to a point in time: stops and SIGCONT interrupt the call.
bool StopSignals::wait(double seconds, int other) {
  const uint64_t limit = monotonic_ns() + uint64_t(seconds * 1e9);
  for (;;) {
    const uint64_t now = monotonic_ns(), left = limit > now ? limit - now : 0;
    const timespec time = {time_t(left / 1'000'000'000), long(left % 1'000'000'000)};
    pollfd files[] = {{file_.get(), POLLIN, 0}, {other, POLLIN, 0}};
    const int ready = ppoll(files, std::size(files), seconds > 0 ? &time : nullptr, nullptr);
    signalfd_siginfo taken;
    if (ready >= 0)
      return read(file_.get(), &taken, sizeof taken) > 0;
  }
}

} // namespace ovnitrace
