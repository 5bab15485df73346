// SPDX-License-Identifier: BSD-2-Clause
// signal_death SIGNAL: dies by that signal, whatever disposition and mask it inherited, without a
// core file. SIGSEGV and such are sent, not provoked.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <sys/resource.h>

int main(int argc, char **argv) {
  const int number = argc > 1 ? atoi(argv[1]) : SIGTERM;
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  signal(number, SIG_DFL);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  sigprocmask(SIG_UNBLOCK, &set, nullptr);
  raise(number);
  fprintf(stderr, "signal_death: signal %d does not kill\n", number);
  return 1;
}
