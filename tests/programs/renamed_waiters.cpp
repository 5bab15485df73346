// SPDX-License-Identifier: BSD-2-Clause
// renamed_waiters COUNT: two threads yield to each other on CPU 0. The main thread, on CPU 1, gives
// them the names "odd" and "even" in turn, COUNT times. Then they end, and the main thread sleeps
// often on CPU 0.
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace {

std::atomic<bool> over{false};

void pin(int cpu) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  if (sched_setaffinity(0, sizeof(one), &one) != 0)
    exit(1);
}

void yield(std::atomic<int> &tid) {
  pin(0);
  tid = gettid();
  while (!over)
    sched_yield();
}

} // namespace

int main(int argc, char **argv) {
  const long count = argc > 1 ? atol(argv[1]) : 1000;
  pin(1);
  std::atomic<int> tids[2] = {0, 0};
  int files[2];
  std::vector<std::thread> threads;
  for (int n = 0; n < 2; n++) {
    threads.emplace_back(yield, std::ref(tids[n]));
    while (!tids[n])
      usleep(1000);
    files[n] = open(("/proc/self/task/" + std::to_string(tids[n]) + "/comm").c_str(), O_WRONLY);
  }
  for (long n = 0; n < count; n++)
    for (const int file : files)
      if (n % 2 ? write(file, "odd", 3) != 3 : write(file, "even", 4) != 4)
        exit(1);
  over = true;
  for (std::thread &thread : threads)
    thread.join();
  pin(0);
  for (int n = 0; n < 100; n++)
    usleep(2000);
}
