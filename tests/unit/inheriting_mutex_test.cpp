// SPDX-License-Identifier: BSD-2-Clause
#include "user/chunk/inheriting_mutex.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <time.h>

#include <atomic>
#include <latch>
#include <thread>

namespace ovnitrace {
namespace {

/// Makes the calling thread one of CPU 0 that runs before those of lower priority. Returns false if
/// it may not.
bool become_real_time(int priority) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(0, &one);
  const sched_param parameters = {.sched_priority = priority};
  return sched_setaffinity(0, sizeof(one), &one) == 0 &&
         sched_setscheduler(0, SCHED_FIFO, &parameters) == 0;
}

/// A thread of middle priority keeps the CPU until the thread of high priority has the mutex, which
/// one of low priority holds. It gives up in the end: only if the test fails.
TEST(InheritingMutex, HolderRunsWithThePriorityOfTheThreadThatWaits) {
  InheritingMutex mutex;
  std::latch held(1), wanted(1);
  std::atomic<bool> allowed = true, waits = false, taken = false;
  bool gave_up = false;
  std::thread low([&] {
    allowed = allowed & become_real_time(1);
    mutex.lock();
    held.count_down();
    wanted.wait();
    while (!waits && allowed) // until the others are about to run
      sched_yield();
    mutex.unlock();
  });
  std::thread middle([&] {
    held.wait();
    allowed = allowed & become_real_time(2);
    wanted.count_down();
    timespec used = {};
    while (!taken && allowed && !gave_up) {
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
      gave_up = used.tv_sec >= 20;
    }
  });
  std::thread high([&] {
    held.wait();
    allowed = allowed & become_real_time(3);
    waits = true;
    mutex.lock();
    taken = true;
    mutex.unlock();
  });
  for (std::thread *thread : {&low, &middle, &high})
    thread->join();
  if (!allowed)
    GTEST_SKIP() << "real-time priorities need root";
  EXPECT_FALSE(gave_up);
}

} // namespace
} // namespace ovnitrace
