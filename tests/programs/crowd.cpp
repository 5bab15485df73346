// SPDX-License-Identifier: BSD-2-Clause
// crowd MS CPU CPU: two threads use MS ms of CPU time each. "spinner" is pinned to the first CPU
// and "victim" to the second, which can be the same one.
#include <cstdlib>
#include <ctime>
#include <pthread.h>
#include <sched.h>
#include <thread>

namespace {

void use(const char *name, int cpu, long ms) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  sched_setaffinity(0, sizeof(one), &one);
  pthread_setname_np(pthread_self(), name);
  timespec used{};
  do
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  while (used.tv_sec * 1000 + used.tv_nsec / 1000000 < ms);
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 4)
    return 2;
  const long ms = std::atol(argv[1]);
  std::thread spinner(use, "spinner", std::atoi(argv[2]), ms);
  std::thread victim(use, "victim", std::atoi(argv[3]), ms);
  spinner.join();
  victim.join();
}
