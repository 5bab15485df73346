// SPDX-License-Identifier: BSD-2-Clause
// Spins on one CPU until it has used so many ms of CPU time. `spin MS [FILE]`: before that it
// writes its pid to FILE, which puts it into a cgroup. What it used until then does not count:
// under emulation a start takes as long as a test's whole quota.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <sched.h>
#include <unistd.h>

namespace {

/// ns of CPU time that the process has used.
long used() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

} // namespace

int main(int argc, char **argv) {
  const long ms = argc > 1 ? std::atol(argv[1]) : 100;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  sched_setaffinity(0, sizeof(one), &one);
  if (argc > 2) {
    std::FILE *file = std::fopen(argv[2], "r+");
    if (!file || std::fprintf(file, "%d\n", int(getpid())) < 0 || std::fclose(file) != 0)
      return 1;
  }
  for (const long before = used(); used() - before < ms * 1'000'000;)
    ;
}
