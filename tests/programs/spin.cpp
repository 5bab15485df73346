// SPDX-License-Identifier: BSD-2-Clause
// Spins on one CPU until it has used so many ms of CPU time. `spin MS [FILE]`: before that it
// writes its pid to FILE, which puts it into a cgroup.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <sched.h>
#include <unistd.h>

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
  timespec used{};
  do
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  while (used.tv_sec * 1000 + used.tv_nsec / 1000000 < ms);
}
