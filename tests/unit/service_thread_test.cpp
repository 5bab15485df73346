// SPDX-License-Identifier: BSD-2-Clause
// Priorities and signals of the threads beside the main one: user/chunk/service_thread.
#include "user/chunk/service_thread.h"

#include "emulator/base/confined.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <string>
#include <thread>

namespace ovnitrace {
namespace {

/// Returns how the calling thread is scheduled: "SCHED_OTHER nice 0".
std::string scheduling() {
  const int policy = sched_getscheduler(0);
  const bool resets = policy & SCHED_RESET_ON_FORK;
  sched_param parameters = {};
  sched_getparam(0, &parameters);
  if ((policy & ~SCHED_RESET_ON_FORK) == SCHED_FIFO)
    return "SCHED_FIFO " + std::to_string(parameters.sched_priority) + (resets ? " resets" : "");
  return "SCHED_OTHER nice " + std::to_string(getpriority(PRIO_PROCESS, 0));
}

std::string scheduling_of_child() {
  std::string text = "none";
  ask_confined(
      1, {.memory = 64 << 20, .seconds = 1},
      [](size_t, ConfinedOutput &out) { out.text(scheduling()); },
      [&](size_t, ConfinedInput &in) { text = in.text(100); }, [](size_t) {});
  return text;
}

struct Seen {
  std::string own, child;
  bool takes_signals = false;
};

/// What a new thread sees of itself after `enter`.
Seen in_thread(void (*enter)()) {
  Seen seen;
  std::thread([&] {
    enter();
    seen.own = scheduling();
    seen.child = scheduling_of_child();
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    seen.takes_signals = !sigismember(&blocked, SIGINT) || !sigismember(&blocked, SIGCHLD);
  }).join();
  return seen;
}

/// Returns the capabilities that a new thread of root, which acts as another user, may still take
/// after `enter`.
std::string rights_after(void (*enter)()) {
  std::string rights;
  std::thread([&] {
    syscall(SYS_setresuid, -1, 65534, -1); // of this thread alone
    enter();
    std::ifstream status("/proc/thread-self/status");
    for (std::string word; status >> word;)
      if (word == "CapPrm:")
        status >> rights;
  }).join();
  return rights;
}

class ServiceThread : public testing::Test {
protected:
  void SetUp() override {
    if (geteuid() != 0)
      GTEST_SKIP() << "only root may raise priorities";
  }
};

TEST_F(ServiceThread, IsAboveOrdinaryThreadsAndItsChildrenAreOrdinary) {
  const Seen seen = in_thread(enter_service_thread);
  EXPECT_EQ(seen.own, "SCHED_FIFO 1 resets");
  EXPECT_EQ(seen.child, "SCHED_OTHER nice 0");
  EXPECT_FALSE(seen.takes_signals);
}

TEST_F(ServiceThread, ThatAsksHasChildrenThatGetACpuSoon) {
  const Seen seen = in_thread(enter_asking_thread);
  EXPECT_EQ(seen.own, "SCHED_FIFO 1");
  EXPECT_EQ(seen.child, "SCHED_OTHER nice -10");
  EXPECT_FALSE(seen.takes_signals);
}

TEST_F(ServiceThread, InTheBackgroundIsBelowOrdinaryThreads) {
  const Seen seen = in_thread(enter_background_thread);
  EXPECT_EQ(seen.own, "SCHED_OTHER nice 10");
  EXPECT_FALSE(seen.takes_signals);
}

TEST_F(ServiceThread, ThatHelpsIsOrdinary) {
  const std::string ordinary = scheduling(); // of the tests, which may run with another nice value
  const Seen seen = in_thread(enter_helper_thread);
  EXPECT_EQ(seen.own, ordinary);
  EXPECT_FALSE(seen.takes_signals);
}

TEST_F(ServiceThread, HasNoRightsOfRootIfItActsAsAnotherUser) {
  for (void (*enter)() :
       {enter_service_thread, enter_background_thread, enter_helper_thread, enter_asking_thread})
    EXPECT_EQ(rights_after(enter), "0000000000000000");
  EXPECT_NE(rights_after(block_signals), "0000000000000000");
}

} // namespace
} // namespace ovnitrace
