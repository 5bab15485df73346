// SPDX-License-Identifier: BSD-2-Clause
// Has a child with a smaller tid, which has a child with a smaller one still. All three live until
// this program is killed. Prints `parent P child C grandchild G`. Ends with 2 where tids cannot be
// chosen.
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <linux/sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

/// Forks, with the largest free tid below ours; as fork() returns.
pid_t fork_below(pid_t ours) {
  for (pid_t wanted = ours - 1; wanted > 300; wanted--) {
    clone_args arguments = {};
    arguments.exit_signal = SIGCHLD;
    arguments.set_tid = reinterpret_cast<uintptr_t>(&wanted);
    arguments.set_tid_size = 1;
    const pid_t child = pid_t(syscall(SYS_clone3, &arguments, sizeof arguments));
    if (child >= 0 || errno != EEXIST)
      return child;
  }
  return -1;
}

} // namespace

int main() {
  const pid_t parent = getpid();
  const pid_t child = fork_below(parent);
  if (child < 0)
    return 2;
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const pid_t middle = getpid();
    const pid_t grandchild = fork_below(middle);
    if (grandchild == 0)
      prctl(PR_SET_PDEATHSIG, SIGKILL);
    else
      dprintf(STDOUT_FILENO, "parent %d child %d grandchild %d\n", parent, middle, grandchild);
  }
  for (;;)
    pause();
}
