// SPDX-License-Identifier: BSD-2-Clause
#include "user/chunk/service_thread.h"

#include "emulator/base/identity.h"

#include <csignal>
#include <sched.h>
#include <sys/resource.h>

namespace ovnitrace {

namespace {

/// A tenth of an ordinary thread's share. With 19 it is 1.5 %, which was not enough to compress on
/// a machine with more runnable threads than CPUs.
constexpr int kBackgroundNice = 10;
/// Nine times an ordinary thread's share.
constexpr int kChildNice = -10;

/// Takes the real-time priority. `flags`: SCHED_RESET_ON_FORK or 0.
void take_priority(int flags) {
  block_signals();
  sched_param parameters = {};
  parameters.sched_priority = sched_get_priority_min(SCHED_FIFO);
  if (sched_setscheduler(0, SCHED_FIFO | flags, &parameters) != 0)
    setpriority(PRIO_PROCESS, 0, -20);
  drop_capabilities();
}

} // namespace

void block_signals() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

void enter_helper_thread() {
  block_signals();
  drop_capabilities();
}

void enter_background_thread() {
  setpriority(PRIO_PROCESS, 0, kBackgroundNice); // on Linux: of this thread
  enter_helper_thread();
}

void enter_service_thread() {
  take_priority(SCHED_RESET_ON_FORK);
}

void enter_asking_thread() {
  setpriority(PRIO_PROCESS, 0, kChildNice); // counts for a child that gives up SCHED_FIFO
  take_priority(0);
}

} // namespace ovnitrace
