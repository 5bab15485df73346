// SPDX-License-Identifier: BSD-2-Clause
// Has a child process that stops itself, one that stops for this program as its debugger, and one
// for which this program waits in vfork(). Prints `main M stopped S traced T`.
#include <csignal>
#include <cstdio>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

/// Returns the pid of a child that stops once and ends. Waits until it stops.
pid_t child_that_stops(bool traced) {
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (traced)
      ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    raise(SIGSTOP);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, WUNTRACED);
  return child;
}

} // namespace

int main() {
  const pid_t stopped = child_that_stops(false);
  kill(stopped, SIGCONT);
  waitpid(stopped, nullptr, 0);
  const pid_t traced = child_that_stops(true);
  ptrace(PTRACE_CONT, traced, nullptr, nullptr);
  waitpid(traced, nullptr, 0);
  const pid_t child = vfork();
  if (child == 0) {
    usleep(1000);
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  printf("main %d stopped %d traced %d\n", getpid(), stopped, traced);
}
