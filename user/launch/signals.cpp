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
std::atomic<const GroupWitness *> witness{nullptr};
std::atomic<int> held{0};

/// timeout(1) signals us first, and then our group: what comes within a moment is one signal.
void wait_for_the_same(int signal) {
  constexpr int kMomentMs = 50;
  poll(nullptr, 0, kMomentMs);
  sigset_t same;
  sigemptyset(&same);
  sigaddset(&same, signal);
  const timespec at_once = {};
  sigtimedwait(&same, nullptr, &at_once);
}

/// The program begins in our process group: what was sent to the group it has already, unless it
/// left it, as timeout(1) does. What it sends to its parent is not meant for itself.
void forward(int signal, siginfo_t *info, void *) {
  const int saved = errno;
  const pid_t to = program.load();
  if (to <= 0) {
    held = signal;
  } else {
    wait_for_the_same(signal);
    const bool of_program = info->si_code <= 0 && info->si_pid == to; // SI_USER and the like
    const bool has_it = witness.load()->got(signal) && getpgid(to) == getpgrp();
    if (!has_it && !of_program)
      kill(to, signal);
  }
  errno = saved;
}

} // namespace

void hold_signals() {
  sigprocmask(SIG_SETMASK, nullptr, &original_mask);
  for (size_t n = 0; n < kCount; n++) {
    struct sigaction action = {};
    action.sa_sigaction = forward;
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
  return held;
}

void end_on_signals() {
  for (size_t n = 0; n < kCount; n++)
    sigaction(kSignals[n], &original[n], nullptr);
}

SignalForwarder::SignalForwarder(pid_t pid) {
  witness = &witness_;
  program = pid;
}

SignalForwarder::~SignalForwarder() {
  program = 0;
}

StopSignals::StopSignals(int but) {
  sigset_t stops;
  sigemptyset(&stops);
  for (size_t n = 0; n < kCount; n++)
    if (kSignals[n] != SIGHUP || original[n].sa_handler != SIG_IGN) // nohup
      sigaddset(&stops, kSignals[n]);
  if (but)
    sigdelset(&stops, but);
  pthread_sigmask(SIG_BLOCK, &stops, &before_);
  file_ = UniqueFd(signalfd(-1, &stops, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!file_)
    throw Error(fmt::format("cannot wait for signals: {}", std::strerror(errno)));
  if (int signal = held)
    raise(signal); // it came between hold_signals() and here: it waits for wait() too
}

StopSignals::~StopSignals() {
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

/// A stop and SIGCONT interrupt the call too: the limit is a point in time.
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
