#include "user/launch/signals.h"

#include "user/record/clock.h"

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <ctime>

namespace ovnitrace {

namespace {

constexpr int kSignals[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
constexpr size_t kCount = sizeof(kSignals) / sizeof(*kSignals);

struct sigaction original[kCount];
struct sigaction original_child, original_file_size;
sigset_t original_mask;
std::atomic<pid_t> program{0};
std::atomic<int> held{0};

/// A signal of the terminal has reached the program too: only others are passed on.
void forward(int signal, siginfo_t *info, void *) {
  int saved = errno;
  pid_t to = program.load();
  if (to <= 0)
    held = signal;
  else if (info->si_code <= 0) // SI_USER, SI_QUEUE, SI_TKILL
    kill(to, signal);
  errno = saved;
}

/// Sets `signal` to a disposition without a handler.
void dispose(int signal, void (*disposition)(int), struct sigaction *before) {
  struct sigaction action = {};
  action.sa_handler = disposition;
  sigaction(signal, &action, before);
}

} // namespace

void hold_signals() {
  sigprocmask(SIG_SETMASK, nullptr, &original_mask);
  for (size_t n = 0; n < kCount; n++) {
    struct sigaction action = {};
    action.sa_sigaction = forward;
    action.sa_flags = SA_SIGINFO;
    sigaction(kSignals[n], &action, &original[n]);
    if (original[n].sa_handler == SIG_IGN) // nohup and the like: stays ignored
      sigaction(kSignals[n], &original[n], nullptr);
  }
  dispose(SIGCHLD, SIG_DFL, &original_child);
  dispose(SIGXFSZ, SIG_IGN, &original_file_size);
}

void restore_signals() {
  end_on_signals();
  sigaction(SIGCHLD, &original_child, nullptr);
  sigaction(SIGXFSZ, &original_file_size, nullptr);
  sigprocmask(SIG_SETMASK, &original_mask, nullptr);
  if (int signal = held)
    raise(signal);
}

int held_signal() { return held; }

void end_on_signals() {
  for (size_t n = 0; n < kCount; n++)
    sigaction(kSignals[n], &original[n], nullptr);
}

SignalForwarder::SignalForwarder(pid_t pid) { program = pid; }
SignalForwarder::~SignalForwarder() { program = 0; }

StopSignals::StopSignals() {
  sigemptyset(&stops_);
  for (int signal : kSignals)
    sigaddset(&stops_, signal);
  pthread_sigmask(SIG_BLOCK, &stops_, &before_);
  if (int signal = held)
    raise(signal); // it came between hold_signals() and here: it waits for wait() too
}

StopSignals::~StopSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

/// A stop and SIGCONT interrupt the call too: the limit is a point in time.
bool StopSignals::wait(double seconds) {
  const uint64_t until = monotonic_ns() + uint64_t(seconds * 1e9);
  for (;;) {
    const uint64_t now = monotonic_ns(), left = now < until ? until - now : 0;
    const timespec limit = {time_t(left / 1'000'000'000), long(left % 1'000'000'000)};
    int got = seconds > 0 ? sigtimedwait(&stops_, nullptr, &limit) : sigwaitinfo(&stops_, nullptr);
    if (got > 0 || errno != EINTR)
      return got > 0;
  }
}

} // namespace ovnitrace
