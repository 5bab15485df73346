// SPDX-License-Identifier: BSD-2-Clause
// Four processes have one tid, one after another: "early", "victim-child", "late" and "later".
// "victim-child", a child of "victim", ends at once. The others, children of the main process, use
// as much of CPU 0 as "victim", which spins there all the time. The last one does so again as
// "renamed". Prints the tid. Ends with status 2 where tids cannot be chosen.
#include "fork_as.h"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <initializer_list>
#include <new>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

enum class Step { spin, fork, forked, end };

struct Shared {
  std::atomic<Step> step{Step::spin};
  std::atomic<pid_t> tid{0};
};

/// Forks with this tid, as soon as no other process has it.
pid_t take(pid_t tid) {
  for (int tries = 0;; tries++) {
    const pid_t child = fork_as(tid);
    if (child >= 0)
      return child;
    if (errno != EEXIST || tries == 5000)
      exit(2);
    usleep(1000);
  }
}

void spin_on_cpu_0(double seconds) {
  timespec used;
  do
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  while (double(used.tv_sec) + double(used.tv_nsec) / 1e9 < seconds);
}

void pin() {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(0, &one);
  if (sched_setaffinity(0, sizeof one, &one) != 0)
    exit(1);
}

[[noreturn]] void be_victim(Shared &shared) {
  prctl(PR_SET_NAME, "victim");
  pin();
  while (shared.step != Step::end)
    if (shared.step == Step::fork) {
      const pid_t child = take(shared.tid);
      if (child == 0) {
        prctl(PR_SET_NAME, "victim-child");
        _exit(0);
      }
      waitpid(child, nullptr, 0);
      shared.step = Step::forked;
    }
  _exit(0);
}

/// Returns the tid of a process that has ended. It had these names.
pid_t run_stranger(pid_t tid, std::initializer_list<const char *> names) {
  const pid_t child = take(tid);
  if (child == 0) {
    pin();
    double seconds = 0;
    for (const char *name : names) {
      prctl(PR_SET_NAME, name);
      spin_on_cpu_0(seconds += 0.05);
    }
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  return child;
}

} // namespace

int main() {
  void *memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return 1;
  Shared &shared = *new (memory) Shared;
  const pid_t victim = fork_as(0);
  if (victim == 0)
    be_victim(shared);
  const pid_t tid = run_stranger(0, {"early"});
  shared.tid = tid;
  shared.step = Step::fork;
  while (shared.step != Step::forked) {
    usleep(1000);
    int status = 0;
    if (waitpid(victim, &status, WNOHANG) == victim)
      return WEXITSTATUS(status);
  }
  run_stranger(tid, {"late"});
  run_stranger(tid, {"later", "renamed"});
  shared.step = Step::end;
  waitpid(victim, nullptr, 0);
  printf("tid %d\n", tid);
}
