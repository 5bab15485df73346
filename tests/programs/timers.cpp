// SPDX-License-Identifier: BSD-2-Clause
// Arms timers of each kind, and says how many.
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <initializer_list>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <unistd.h>

namespace {

constexpr int kSleeps = 7, kFires = 5;
int reads = 0; ///< each sets the timer to its next period
volatile sig_atomic_t alarms = 0;

void sleeps() {
  for (int n = 0; n < kSleeps; n++) {
    timespec rest = {0, 1'000'000};
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &rest, &rest) == EINTR)
      ;
  }
}

/// Armed once, it expires kFires times, and is then cancelled.
void descriptor() {
  const int timer = timerfd_create(CLOCK_MONOTONIC, 0);
  const itimerspec period = {{0, 2'000'000}, {0, 2'000'000}}, never = {};
  timerfd_settime(timer, 0, &period, nullptr);
  unsigned long long times = 0, sum = 0;
  for (; sum < kFires && read(timer, &times, sizeof times) == sizeof times; reads++)
    sum += times;
  timerfd_settime(timer, 0, &never, nullptr);
  close(timer);
}

/// Two that never expire: one is deleted, the other disarmed first.
void posix() {
  for (bool disarm : {false, true}) {
    timer_t timer;
    sigevent event = {};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGUSR2;
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    const itimerspec later = {{0, 0}, {1000, 0}}, never = {};
    timer_settime(timer, 0, &later, nullptr);
    if (disarm)
      timer_settime(timer, 0, &never, nullptr);
    timer_delete(timer);
  }
}

/// One that expires while we burn CPU.
void interval() {
  signal(SIGALRM, [](int) { alarms = alarms + 1; });
  const itimerval once = {{0, 0}, {0, 5'000}};
  setitimer(ITIMER_REAL, &once, nullptr);
  while (!alarms)
    ;
}

} // namespace

int main() {
  sleeps();
  descriptor();
  posix();
  interval();
  printf("sleeps %d reads %d\n", kSleeps, reads);
}
