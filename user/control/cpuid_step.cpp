// SPDX-License-Identifier: BSD-2-Clause
#include "user/control/cpuid_step.h"

#if defined(__x86_64__)

#include <csignal>
#include <cstdint>
#include <ucontext.h>

namespace ovnitrace::control {

namespace {

volatile uint64_t behind_cpuid;
volatile sig_atomic_t stopped;

void on_stop(int, siginfo_t *, void *context) {
  const auto *user = static_cast<const ucontext_t *>(context);
  if (uint64_t(user->uc_mcontext.gregs[REG_RIP]) == behind_cpuid)
    stopped = 1;
}

bool try_it() {
  struct sigaction action = {}, before;
  action.sa_sigaction = on_stop;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGTRAP, &action, &before);
  sigset_t trap, mask;
  sigemptyset(&trap);
  sigaddset(&trap, SIGTRAP);
  pthread_sigmask(SIG_UNBLOCK, &trap, &mask);
  uint64_t leaf = 0;
  // The trap flag is set, and cleared again. What lies below the stack pointer is the compiler's.
  asm volatile("lea 1f(%%rip), %%rcx\n"
               "mov %%rcx, %[behind]\n"
               "sub $128, %%rsp\n"
               "pushfq\n"
               "orq $0x100, (%%rsp)\n"
               "popfq\n"
               "nop\n"
               "cpuid\n"
               "1: nop\n"
               "nop\n"
               "pushfq\n"
               "andq $~0x100, (%%rsp)\n"
               "popfq\n"
               "add $128, %%rsp\n"
               : "+a"(leaf), [behind] "=m"(behind_cpuid)
               :
               : "rbx", "rcx", "rdx", "memory", "cc");
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  sigaction(SIGTRAP, &before, nullptr);
  return stopped;
}

} // namespace

bool stops_after_cpuid() {
  static const bool stops = try_it();
  return stops;
}

} // namespace ovnitrace::control

#endif
