// SPDX-License-Identifier: BSD-2-Clause
// A child gives itself nice 5 and ends; the next one gets its tid, sleeps, and gives itself nice 7.
// Prints that tid. With arguments PROGRAM FIRST SECOND, the children execute PROGRAM instead, with
// one argument each. Ends with status 2 where tids cannot be chosen.
#include "fork_as.h"

#include <cerrno>
#include <cstdio>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

[[noreturn]] void sleep_and_be_nice(int nice) {
  usleep(1000);
  setpriority(PRIO_PROCESS, 0, nice);
  _exit(0);
}

[[noreturn]] void execute(const char *program, const char *argument) {
  execl(program, program, argument, nullptr);
  _exit(127);
}

} // namespace

int main(int argc, char **argv) {
  constexpr int kMostTries = 100;
  for (int tries = 0; tries < kMostTries; tries++) {
    const pid_t first = fork_as(0);
    if (first == 0)
      argc > 3 ? execute(argv[1], argv[2]) : sleep_and_be_nice(5);
    if (first < 0 || waitpid(first, nullptr, 0) != first)
      return 1;
    const pid_t second = fork_as(first);
    if (second == 0)
      argc > 3 ? execute(argv[1], argv[3]) : sleep_and_be_nice(7);
    if (second > 0) {
      waitpid(second, nullptr, 0);
      printf("tid %d\n", second);
      return 0;
    }
    if (errno != EEXIST) // that would be another process's by now
      return 2;
  }
  return 1;
}
