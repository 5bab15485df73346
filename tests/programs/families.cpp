// SPDX-License-Identifier: BSD-2-Clause
// Makes each family of events happen, as often as it says: signals between its threads and from a
// timer.
#include <atomic>
#include <csignal>
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

/// Burns CPU until the kernel's timer has sent SIGALRM, so that interrupts hit us.
void interrupts() {
  static std::atomic<bool> over{false};
  signal(SIGALRM, [](int) { over = true; });
  itimerval timer = {{0, 0}, {0, 200'000}};
  setitimer(ITIMER_REAL, &timer, nullptr);
  while (!over)
    ;
}

} // namespace

int main() {
  signal(SIGUSR1, on_signal);
  signals();
  interrupts();
  printf("%d signals\n", taken.load());
}
