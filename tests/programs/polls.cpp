// SPDX-License-Identifier: BSD-2-Clause
// Waits 0.1 ms in one system call after another, in two threads, each call in a function of its own
// that is called by_CALL.
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <thread>
#include <time.h>

namespace {

constexpr timespec kWait = {0, 100'000};
volatile int result; // keeps the functions from ending with a jump

[[gnu::noinline]] void by_poll() {
  result = poll(nullptr, 0, 1);
}
[[gnu::noinline]] void by_ppoll() {
  result = ppoll(nullptr, 0, &kWait, nullptr);
}
[[gnu::noinline]] void by_pselect6() {
  result = pselect(0, nullptr, nullptr, nullptr, &kWait, nullptr);
}
[[gnu::noinline]] void by_epoll_wait(int poll) {
  epoll_event event;
  result = epoll_wait(poll, &event, 1, 1);
}
[[gnu::noinline]] void by_clock_nanosleep() {
  result = clock_nanosleep(CLOCK_MONOTONIC, 0, &kWait, nullptr);
}

void wait_often() {
  const int poll = epoll_create1(0);
  for (int n = 0; n < 300; n++) {
    by_poll();
    by_ppoll();
    by_pselect6();
    by_epoll_wait(poll);
    by_clock_nanosleep();
  }
}

} // namespace

int main() {
  std::thread other(wait_often);
  wait_often();
  other.join();
}
