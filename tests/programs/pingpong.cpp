// SPDX-License-Identifier: BSD-2-Clause
// pingpong [--threads] [--cpus A[,B]] [N, 100000]: a byte goes to and fro over two pipes N times,
// between two processes or threads. Both are pinned to CPU A, or one to A and one to B. The load of
// `perf bench sched pipe`: two context switches a round trip, and nothing else. Prints
//   roundtrips= ns= ns_per_roundtrip= cpu_ns_per_roundtrip=
// The last is the CPU time of both sides, which other load on the machine disturbs less.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace {

[[noreturn]] void fail(const char *what) {
  perror(what);
  exit(1);
}

uint64_t now_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return uint64_t(t.tv_sec) * 1'000'000'000 + uint64_t(t.tv_nsec);
}

uint64_t cpu_ns(int who) {
  rusage usage;
  getrusage(who, &usage);
  const auto ns = [](const timeval &t) {
    return uint64_t(t.tv_sec) * 1'000'000'000 + uint64_t(t.tv_usec) * 1000;
  };
  return ns(usage.ru_utime) + ns(usage.ru_stime);
}

void pin(int cpu) {
  if (cpu < 0)
    return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0)
    fail("pingpong: sched_setaffinity");
}

void send(int pipe) {
  const char byte = 0;
  if (write(pipe, &byte, 1) != 1)
    fail("pingpong: write");
}

void receive(int pipe) {
  char byte;
  if (read(pipe, &byte, 1) != 1)
    fail("pingpong: read");
}

} // namespace

int main(int argc, char **argv) {
  bool threads = false;
  int cpu_a = -1, cpu_b = -1;
  uint64_t trips = 100'000;
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--threads") == 0)
      threads = true;
    else if (strcmp(argv[i], "--cpus") == 0 && i + 1 < argc) {
      if (sscanf(argv[++i], "%d,%d", &cpu_a, &cpu_b) == 1)
        cpu_b = cpu_a;
    } else
      trips = strtoull(argv[i], nullptr, 10);
  }

  int there[2], back[2];
  if (pipe(there) != 0 || pipe(back) != 0)
    fail("pingpong: pipe");

  // One trip more than is counted: the first waits until the other side is there.
  const auto pong = [&] {
    pin(cpu_b);
    for (uint64_t i = 0; i < trips + 1; i++) {
      receive(there[0]);
      send(back[1]);
    }
  };

  std::thread thread;
  if (threads)
    thread = std::thread(pong);
  else if (const pid_t pid = fork(); pid < 0)
    fail("pingpong: fork");
  else if (pid == 0) {
    pong();
    _exit(0);
  }

  pin(cpu_a);
  const uint64_t cpu_start = cpu_ns(RUSAGE_SELF);
  uint64_t start = 0;
  for (uint64_t i = 0; i < trips + 1; i++) {
    send(there[1]);
    receive(back[0]);
    if (i == 0)
      start = now_ns();
  }
  const uint64_t ns = now_ns() - start;

  if (threads)
    thread.join();
  else
    wait(nullptr);
  const uint64_t cpu = cpu_ns(RUSAGE_SELF) + cpu_ns(RUSAGE_CHILDREN) - cpu_start;
  printf("roundtrips=%lu ns=%lu ns_per_roundtrip=%.1f cpu_ns_per_roundtrip=%.1f\n", trips, ns,
         trips ? double(ns) / double(trips) : 0.0, trips ? double(cpu) / double(trips) : 0.0);
}
