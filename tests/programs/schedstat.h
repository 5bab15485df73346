// SPDX-License-Identifier: BSD-2-Clause
// The kernel's own accounting of the calling thread, bracketed by the clock.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

inline uint64_t now_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return uint64_t(t.tv_sec) * 1'000'000'000 + uint64_t(t.tv_nsec);
}

inline pid_t own_tid() {
  return pid_t(syscall(SYS_gettid));
}

struct Accounting {
  uint64_t before = 0;      ///< CLOCK_MONOTONIC, ns, just before the first file is read
  uint64_t after = 0;       ///< ... and just after the last
  uint64_t exec = 0;        ///< sum_exec_runtime, ns
  uint64_t delay = 0;       ///< run_delay, ns: runnable and not running
  uint64_t slices = 0;      ///< times that it got a CPU
  uint64_t voluntary = 0;   ///< voluntary_ctxt_switches
  uint64_t involuntary = 0; ///< nonvoluntary_ctxt_switches
};

/// Returns the accounting of the calling thread. The kernel adds up the time of a running thread
/// only at ticks and in schedule(), so a thread's own sum_exec_runtime is up to a tick old. This
/// calls sched_yield first, because its schedule() calls update_curr whether or not another thread
/// is picked. A sleep would do that too, but adds a voluntary switch and a wait. The number at
/// `before` is therefore only as old as that call.
/// Ends the program when a file cannot be read.
inline Accounting read_accounting() {
  Accounting a;
  char text[4096], path[64];
  const auto slurp = [&](const char *name) {
    snprintf(path, sizeof path, "/proc/self/task/%d/%s", own_tid(), name);
    FILE *file = fopen(path, "re");
    const size_t size = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
      fclose(file);
    if (size == 0) {
      perror(path);
      exit(1);
    }
    text[size] = 0;
  };
  const auto field = [&](const char *name) {
    const char *found = strstr(text, name);
    return found ? strtoull(found + strlen(name), nullptr, 10) : 0;
  };

  sched_yield();
  a.before = now_ns();
  slurp("schedstat");
  char *rest = text;
  a.exec = strtoull(rest, &rest, 10);
  a.delay = strtoull(rest, &rest, 10);
  a.slices = strtoull(rest, &rest, 10);
  slurp("status");
  a.voluntary = field("\nvoluntary_ctxt_switches:");
  a.involuntary = field("\nnonvoluntary_ctxt_switches:");
  a.after = now_ns();
  return a;
}
