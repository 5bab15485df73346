// SPDX-License-Identifier: BSD-2-Clause
// Makes each family of events happen, as often as it says: signals between its threads and from a
// timer.
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <pthread.h>
#include <sys/time.h>
#include <unistd.h>

namespace {

constexpr int kSignals = 20;

std::atomic<int> taken{0};

void on_signal(int) {
  taken++;
}

void *receive(void *) {
  while (taken < kSignals)
    usleep(200);
  return nullptr;
}

/// kSignals times SIGUSR1 from this thread to another, one after the other.
void signals() {
  pthread_t receiver;
  pthread_create(&receiver, nullptr, receive, nullptr);
  for (int n = 0; n < kSignals; n++) {
    while (taken < n)
      usleep(200);
    pthread_kill(receiver, SIGUSR1);
  }
  pthread_join(receiver, nullptr);
}

/// Returns how long this thread has run, in ms. On a busy machine that is much less than the time
/// that has passed.
int64_t ran_for() {
  timespec used = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return used.tv_sec * 1000 + used.tv_nsec / 1'000'000;
}

/// Burns 0.2 s of CPU time at least, so that interrupts hit us, and until the kernel's timer has
/// sent SIGALRM.
void interrupts() {
  static std::atomic<bool> over{false};
  signal(SIGALRM, [](int) { over = true; });
  itimerval timer = {{0, 0}, {0, 200'000}};
  setitimer(ITIMER_REAL, &timer, nullptr);
  for (const int64_t end = ran_for() + 200; !over || ran_for() < end;)
    ;
}

} // namespace

int main() {
  signal(SIGUSR1, on_signal);
  signals();
  interrupts();
  printf("%d signals\n", taken.load());
}
