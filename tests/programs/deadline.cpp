// SPDX-License-Identifier: BSD-2-Clause
// deadline WHAT [JOBS]: jobs of a SCHED_DEADLINE thread. "meet": each of JOBS (5) uses a tenth of
// its budget and yields. "overrun": one that needs 2.9 budgets, or JOBS. "sleep": each sleeps with
// its budget used up; a budget is here shorter than a tick, so that the kernel does not notice
// before. Says how many jobs, how many of them ended too late, how often the kernel reported it of
// an overrun, and how much later than asked for the sleeps ended. Ends with 2 where SCHED_DEADLINE
// is not allowed.
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

constexpr uint64_t kBudget = 12'000'000,
                   kPeriod = 120'000'000; // ns; a budget is longer than a tick

struct Attributes { // struct sched_attr of <linux/sched/types.h>
  uint32_t size = sizeof(Attributes);
  uint32_t policy = 6; // SCHED_DEADLINE
  uint64_t flags = 0;
  int32_t nice = 0;
  uint32_t priority = 0;
  uint64_t runtime = kBudget, deadline = kPeriod, period = kPeriod;
};

constexpr uint64_t kReportOverrun = 0x04; // SCHED_FLAG_DL_OVERRUN: SIGXCPU

volatile sig_atomic_t overruns = 0;

uint64_t read_clock(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return uint64_t(t.tv_sec) * 1'000'000'000 + uint64_t(t.tv_nsec);
}
uint64_t cpu_ns() {
  return read_clock(CLOCK_THREAD_CPUTIME_ID);
}
uint64_t now_ns() {
  return read_clock(CLOCK_MONOTONIC);
}

void burn(uint64_t ns) {
  const uint64_t end = cpu_ns() + ns;
  while (cpu_ns() < end)
    ;
}

/// Returns how much later than asked for the sleeps ended, ns. Works without a look at cpu_ns(),
/// for which the kernel would account for the budget.
uint64_t sleep_without_budget(int jobs, uint64_t budget) {
  uint64_t late = 0;
  for (int n = 0; n < jobs; n++) {
    const uint64_t end = now_ns() + budget * 3 / 2;
    while (now_ns() < end)
      ;
    const timespec time = {0, 1'000'000};
    const uint64_t begin = now_ns();
    nanosleep(&time, nullptr);
    late += now_ns() - begin - uint64_t(time.tv_nsec);
  }
  return late;
}

} // namespace

int main(int argc, char **argv) {
  int late = 0;
  const int jobs = argc > 2 ? std::atoi(argv[2]) : 5;
  const bool overrun = argc > 1 && strcmp(argv[1], "overrun") == 0;
  const bool sleep = argc > 1 && strcmp(argv[1], "sleep") == 0;
  uint64_t late_ns = 0;
  signal(SIGXCPU, [](int) { overruns = overruns + 1; });
  Attributes attributes;
  attributes.flags = kReportOverrun;
  if (sleep) { // not a multiple of a tick, so that jobs start at different times of one
    attributes.runtime = 800'000;
    attributes.deadline = attributes.period = 30'700'000;
  }
  if (syscall(SYS_sched_setattr, 0, &attributes, 0) != 0)
    return 2;
  if (sleep)
    late_ns = sleep_without_budget(jobs, attributes.runtime);
  else if (overrun)
    burn(argc > 2 ? uint64_t(jobs) * kBudget : 2 * kBudget + kBudget * 9 / 10);
  else
    for (int n = 0; n < jobs; n++) {
      const uint64_t begin = now_ns();
      burn(kBudget / 10);
      late += now_ns() - begin > kPeriod / 2; // a machine that stood still
      sched_yield();
    }
  attributes = {.policy = 0, .runtime = 0, .deadline = 0, .period = 0};
  syscall(SYS_sched_setattr, 0, &attributes, 0);
  printf("jobs %d late %d overruns %d late_ns %llu\n", jobs, late, int(overruns),
         (unsigned long long)late_ns);
}
