// SPDX-License-Identifier: BSD-2-Clause
// The facts about a trace that the advice of `why` gets.
#include "emulator/why/advice_facts.h"

#include <gtest/gtest.h>

#include <string>

namespace ovnitrace {
namespace {

using Kind = Culprit::Kind;

/// Threads 0 and 1 are of the program, 2 and 3 are others. All waits are of thread 1, but one.
class FactsOfAdvice : public testing::Test {
protected:
  FactsOfAdvice() {
    catalog.hosts.resize(1);
    catalog.cpus = {{0}, {1}, {2}, {3}};
    catalog.threads.resize(4);
    for (uint32_t t = 0; t < 4; t++) {
      catalog.threads[t].tid = 11 + t;
      catalog.threads[t].pid = t < 2 ? 11 : 11 + t;
      catalog.threads[t].name = std::string("thread-") + char('a' + t);
    }
    info.cpus = 4;
    info.all_threads = true;
    why.recorded = 1000;
    why.shown = {1, 1, 0, 0};
    why.threads.resize(4);
  }
  static Culprit thread(uint32_t number) { return {Kind::thread, number}; }
  AdviceFacts facts() { return advice_facts(info, catalog, why, "app"); }

  TraceInfo info;
  Catalog catalog;
  Explanation why;
};

TEST_F(FactsOfAdvice, TimesAreTheSumsOfThreads) {
  why.threads[0] = {
      .running = 10, .waiting = 20, .blocked = 30, .spinning = 4, .idle_forbidden = 5};
  why.threads[1] = {.running = 100, .waiting = 200, .blocked = 300, .idle_forbidden = 50};
  const AdviceFacts of = facts();
  EXPECT_EQ(of.name, "app");
  EXPECT_EQ(of.length, 1000u);
  EXPECT_EQ(of.threads, 2u);
  EXPECT_EQ(of.all_cpus, 4u);
  EXPECT_EQ(of.cpus, 4u);
  EXPECT_EQ(of.running, 110u);
  EXPECT_EQ(of.waiting, 216u) << "spinning loses nothing";
  EXPECT_EQ(of.idle_forbidden, 55u);
  EXPECT_EQ(of.blocked, 330u);
  why.threads[1] = {.running = 0, .waiting = 0, .blocked = 300};
  EXPECT_EQ(facts().blocked, 30u) << "it hardly ran";
  EXPECT_EQ(facts().threads, 1u) << "so it is not in the sums";
  why.allowed_cpus = 3;
  EXPECT_EQ(facts().cpus, 3u);
  why.allowed_cpus = 5;
  EXPECT_EQ(facts().cpus, 4u);
}

TEST_F(FactsOfAdvice, ProcessesOfOneThreadAreSingleThreaded) {
  EXPECT_FALSE(facts().single_threaded) << "two threads of one";
  catalog.threads[1].pid = 12;
  EXPECT_TRUE(facts().single_threaded);
  why.shown = {1, 0, 0, 0};
  EXPECT_FALSE(facts().single_threaded) << "there is one";
}

TEST_F(FactsOfAdvice, ABlockIsItsOwnIfAThreadOfTheProgramEndedIt) {
  why.threads[0] = why.threads[1] = {.running = 100, .blocked = 100};
  why.blocks = {{.thread = 0, .waker = thread(1), .ns = 5},
                {.thread = 1, .waker = thread(0), .ns = 7},
                {.thread = 1, .waker = thread(2), .ns = 11},
                {.thread = 1, .waker = Culprit(Kind::idle), .ns = 13}};
  EXPECT_EQ(facts().woken_by_own, 12u);
  why.threads[1] = {.running = 0, .blocked = 100};
  EXPECT_EQ(facts().woken_by_own, 5u) << "the other hardly ran";
}

TEST_F(FactsOfAdvice, AWaitIsBehindItsOwnThreadsOrAnotherProgram) {
  why.threads[1].waiting = 1000;
  why.held = {{1, WaitKind::wakeup, thread(0), 100},
              {1, WaitKind::preemption, thread(1), 20},
              {1, WaitKind::spin, thread(0), 3},
              {1, WaitKind::throttling, Culprit(), 4},
              {1, WaitKind::throttling, thread(0), 1},
              {1, WaitKind::period, Culprit(), 50},
              {1, WaitKind::wakeup, thread(2), 30},
              {0, WaitKind::preemption, thread(2), 31},
              {1, WaitKind::spin, thread(2), 500},
              {1, WaitKind::wakeup, thread(3), 60},
              {1, WaitKind::wakeup, Culprit(Kind::idle), 700}};
  why.priorities.holders = {{thread(2), 0, 61, 0}};
  const AdviceFacts of = facts();
  EXPECT_EQ(of.behind_own, 120u);
  EXPECT_EQ(of.throttled, 5u);
  EXPECT_EQ(of.waiting, 950u) << "not until its next period";
  EXPECT_EQ(of.behind_other, 61u);
  EXPECT_EQ(of.other, "thread-c (13)");
  EXPECT_EQ(of.other_class, FTRACE_CLASS_NORMAL);
}

TEST_F(FactsOfAdvice, AnotherProgramHasTheClassOfHalfItsTime) {
  catalog.threads[3].name = "thread-c";
  why.held = {{1, WaitKind::wakeup, thread(2), 50}, {1, WaitKind::wakeup, thread(3), 50}};
  why.priorities.holders = {{}, {thread(2), 0, 0, 50}, {thread(3), 0, 50, 0}};
  EXPECT_EQ(facts().other, "thread-c") << "two threads have no tid";
  EXPECT_EQ(facts().behind_other, 100u);
  EXPECT_EQ(facts().other_class, FTRACE_CLASS_REAL_TIME);
  why.held[1].ns = why.priorities.holders[2].normal = 51;
  EXPECT_EQ(facts().other_class, FTRACE_CLASS_NORMAL);
  why.priorities.holders[2].normal = 50;
  EXPECT_EQ(facts().other_class, FTRACE_CLASS_UNKNOWN) << "both for 50 of 101";
  why.priorities.holders[2].culprit = thread(0);
  EXPECT_EQ(facts().other_class, FTRACE_CLASS_UNKNOWN) << "a thread of the program";
}

TEST_F(FactsOfAdvice, ThreadsWithoutANameAreNoProgram) {
  why.held = {{1, WaitKind::wakeup, Culprit(Kind::untraced, 98), 50},
              {1, WaitKind::wakeup, Culprit(Kind::untraced, 99), 50},
              {1, WaitKind::wakeup, thread(2), 1}};
  EXPECT_EQ(facts().other, "thread-c (13)");
  EXPECT_EQ(facts().behind_other, 1u);
  catalog.hosts[0].peers = {{.tid = 99, .pid = 99, .name = "hog"}};
  EXPECT_EQ(facts().other, "hog (99)");
  EXPECT_EQ(facts().behind_other, 50u);
}

TEST_F(FactsOfAdvice, AnUntracedThreadHasTheNameOfItsHost) {
  catalog.hosts.resize(2);
  catalog.hosts[0].peers = {{.tid = 99, .pid = 99, .name = "hog"}};
  catalog.hosts[1].peers = {{.tid = 99, .pid = 99, .name = "other"}};
  why.held = {{1, WaitKind::wakeup, Culprit(Kind::untraced, 99), 50}};
  why.priorities.holders = {{Culprit(Kind::untraced, 99), 1, 0, 50}};
  EXPECT_EQ(facts().other_class, FTRACE_CLASS_UNKNOWN);
  why.priorities.holders[0].host = 0;
  EXPECT_EQ(facts().other_class, FTRACE_CLASS_REAL_TIME);
}

TEST_F(FactsOfAdvice, NiceValuesAreSummedUpAndTheLongestWaitIsNamed) {
  why.priorities.behind_lower = 30;
  why.priorities.preempted_lower = 20;
  why.priorities.throttled_real_time = 2;
  AdviceFacts of = facts();
  EXPECT_EQ(of.behind_lower, 30u);
  EXPECT_EQ(of.preempted_lower, 20u);
  EXPECT_EQ(of.throttled_real_time, 2u);
  EXPECT_EQ(of.as_nice, 0u);
  EXPECT_EQ(of.nice, 0);
  why.priorities.as_nice[19] = 7;
  EXPECT_EQ(facts().nice, 19);
  why.priorities.as_nice[1] = 7;
  EXPECT_EQ(facts().nice, 1) << "the lower value of two";
  why.priorities.as_nice[5] = 8;
  of = facts();
  EXPECT_EQ(of.as_nice, 22u);
  EXPECT_EQ(of.nice, 5);
}

TEST_F(FactsOfAdvice, APreemptedWakerAndItsPreemptorAreNamed) {
  EXPECT_EQ(facts().preempted, "");
  why.preempted_wakers = {.woken = 90, .blocked = 80, .most = 0, .most_preempted = 70};
  AdviceFacts of = facts();
  EXPECT_EQ(of.woken_by_threads, 90u);
  EXPECT_EQ(of.behind_preempted, 80u);
  EXPECT_EQ(of.preempted_ns, 70u);
  EXPECT_EQ(of.preempted, "thread-a (11)");
  EXPECT_EQ(of.preempted_by, "");
  EXPECT_FALSE(of.inverts_priority);
  why.preempted_wakers.by = 2;
  why.preempted_wakers.inverts = true;
  of = facts();
  EXPECT_EQ(of.preempted_by, "thread-c (13)");
  EXPECT_TRUE(of.inverts_priority);
}

TEST_F(FactsOfAdvice, OfEqualProgramsTheFirstIsNamed) {
  why.held = {{1, WaitKind::wakeup, thread(3), 50}, {1, WaitKind::wakeup, thread(2), 50}};
  EXPECT_EQ(facts().other, "thread-c (13)") << "by name";
}

TEST_F(FactsOfAdvice, WaitingForAPeriodIsNoMoreThanAllWaiting) {
  why.threads[1].waiting = 10;
  why.held = {{1, WaitKind::period, Culprit(), 7}, {1, WaitKind::budget, Culprit(), 7}};
  EXPECT_EQ(facts().waiting, 0u);
}

} // namespace
} // namespace ovnitrace
