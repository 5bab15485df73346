// SPDX-License-Identifier: BSD-2-Clause
// Says which signals it gets, a line each, until it gets SIGTERM; then it exits with status 6.
#include <csignal>
#include <cstdio>
#include <unistd.h>

int main() {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, nullptr);
  std::puts("ready");
  for (int got = 0; got != SIGTERM;) {
    std::fflush(stdout);
    if (sigwait(&all, &got) == 0 && got != SIGCONT)
      std::printf("%d\n", got);
  }
  std::fflush(stdout);
  return 6;
}
