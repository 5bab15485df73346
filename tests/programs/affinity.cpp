// SPDX-License-Identifier: BSD-2-Clause
// Goes from one set of CPUs to another, and blocks after each change; prints its tid, and the CPUs
// that the kernel says it may use then, as a mask. At the end a thread that inherits them.
#include <cstdio>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

void print_mask() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof(set), &set);
  unsigned long mask = 0;
  for (int cpu = 0; cpu < 24; cpu++)
    mask |= CPU_ISSET(cpu, &set) ? 1ul << cpu : 0;
  std::printf("%ld %lx\n", syscall(SYS_gettid), mask);
}

/// A sleep can be over before the thread has left its CPU.
void block() {
  rusage before, now;
  getrusage(RUSAGE_THREAD, &before);
  do {
    usleep(2000);
    getrusage(RUSAGE_THREAD, &now);
  } while (now.ru_nvcsw == before.ru_nvcsw);
}

void *run(void *) {
  print_mask();
  return nullptr;
}

} // namespace

int main() {
  cpu_set_t all;
  sched_getaffinity(0, sizeof(all), &all);
  print_mask();
  for (int cpu = 0; cpu < 24; cpu++) {
    if (!CPU_ISSET(cpu, &all))
      continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof(one), &one);
    block();
    print_mask();
  }
  pthread_t thread;
  pthread_create(&thread, nullptr, run, nullptr);
  pthread_join(thread, nullptr);
  sched_setaffinity(0, sizeof(all), &all);
  block();
  print_mask();
}
