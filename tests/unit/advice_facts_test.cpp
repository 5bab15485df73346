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
    catalog.cpus.resize(4);
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
    why.classes.assign(4, FTRACE_CLASS_NORMAL);
    why.nice.assign(4, 0);
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
  why.classes[2] = FTRACE_CLASS_DEADLINE;
  EXPECT_EQ(facts().other, "thread-c") << "two threads have no tid";
  EXPECT_EQ(facts().behind_other, 100u);
  EXPECT_EQ(facts().other_class, FTRACE_CLASS_REAL_TIME);
  why.held[1].ns = 51;
  EXPECT_EQ(facts().other_class, FTRACE_CLASS_NORMAL);
  why.classes[3] = FTRACE_CLASS_UNKNOWN;
  EXPECT_EQ(facts().other_class, FTRACE_CLASS_UNKNOWN) << "50 of 101";
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

TEST_F(FactsOfAdvice, AnUntracedThreadHasItsClassOnItsHost) {
  catalog.hosts[0].peers = {{.tid = 99, .pid = 99, .name = "hog"}};
  why.held = {{1, WaitKind::wakeup, Culprit(Kind::untraced, 99), 50}};
  why.peer_classes[uint64_t(1) << 32 | 99] = FTRACE_CLASS_REAL_TIME;
  EXPECT_EQ(facts().other_class, FTRACE_CLASS_UNKNOWN);
  why.peer_classes[99] = FTRACE_CLASS_REAL_TIME;
  EXPECT_EQ(facts().other_class, FTRACE_CLASS_REAL_TIME);
}

TEST_F(FactsOfAdvice, PrioritiesSayWhetherAWaitWasForALowerOne) {
  why.classes[1] = FTRACE_CLASS_REAL_TIME;
  why.nice = {5, 0, 0, 0};
  why.waits = {{0, WaitKind::wakeup, thread(2), 7},    {0, WaitKind::throttling, Culprit(), 1},
               {1, WaitKind::wakeup, thread(2), 10},   {1, WaitKind::preemption, thread(2), 20},
               {1, WaitKind::spin, thread(2), 300},    {1, WaitKind::preemption, thread(0), 400},
               {1, WaitKind::throttling, Culprit(), 2}};
  AdviceFacts of = facts();
  EXPECT_EQ(of.behind_lower, 30u);
  EXPECT_EQ(of.preempted_lower, 20u) << "it had not slept";
  EXPECT_EQ(of.throttled_real_time, 2u);
  EXPECT_EQ(of.as_nice, 7u);
  EXPECT_EQ(of.nice, 5);
  why.classes[1] = FTRACE_CLASS_NORMAL;
  why.nice[1] = 1;
  of = facts();
  EXPECT_EQ(of.behind_lower, 0u);
  EXPECT_EQ(of.as_nice, 37u);
  EXPECT_EQ(of.nice, 1) << "it waited longer than that of 5";
  why.waits[0].ns = 31;
  EXPECT_EQ(facts().nice, 5);
  why.classes[2] = FTRACE_CLASS_REAL_TIME;
  EXPECT_EQ(facts().as_nice, 0u) << "nice values do not matter behind it";
}

TEST_F(FactsOfAdvice, APreemptorRanForHalfOfThePreemptions) {
  why.preempted_wakers = {.woken = 90, .blocked = 80, .most = 0, .most_preempted = 70};
  why.waits = {{0, WaitKind::preemption, thread(2), 10},
               {0, WaitKind::preemption, Culprit(Kind::untraced, 9), 10},
               {0, WaitKind::wakeup, thread(3), 100},
               {1, WaitKind::preemption, thread(3), 100}};
  AdviceFacts of = facts();
  EXPECT_EQ(of.woken_by_threads, 90u);
  EXPECT_EQ(of.behind_preempted, 80u);
  EXPECT_EQ(of.preempted_ns, 70u);
  EXPECT_EQ(of.preempted, "thread-a (11)");
  EXPECT_EQ(of.preempted_by, "thread-c (13)");
  EXPECT_FALSE(of.inverts_priority);
  why.waits[1].ns = 11;
  EXPECT_EQ(facts().preempted_by, "") << "10 of 21";
  why.preempted_wakers.most = kNone;
  EXPECT_EQ(facts().preempted, "");
}

TEST_F(FactsOfAdvice, APriorityIsInvertedIfThePreemptorAndABlockedThreadHaveRealTimeOnes) {
  why.preempted_wakers.most = 0;
  why.waits = {{0, WaitKind::preemption, thread(2), 10}};
  why.blocks = {{.thread = 1, .waker = thread(0), .ns = 7}};
  why.classes[1] = FTRACE_CLASS_REAL_TIME;
  EXPECT_FALSE(facts().inverts_priority) << "the preemptor has none";
  why.classes[2] = FTRACE_CLASS_REAL_TIME;
  EXPECT_TRUE(facts().inverts_priority);
  why.blocks[0].waker = thread(3);
  EXPECT_FALSE(facts().inverts_priority) << "it waited for another";
  why.blocks[0].waker = thread(0);
  why.classes[1] = FTRACE_CLASS_NORMAL;
  EXPECT_FALSE(facts().inverts_priority) << "the blocked thread has none";
}

TEST_F(FactsOfAdvice, OfEqualProgramsAndNiceValuesTheFirstIsNamed) {
  why.held = {{1, WaitKind::wakeup, thread(3), 50}, {1, WaitKind::wakeup, thread(2), 50}};
  EXPECT_EQ(facts().other, "thread-c (13)") << "by name";
  why.waits = {{0, WaitKind::wakeup, thread(2), 7}, {1, WaitKind::wakeup, thread(2), 7}};
  EXPECT_EQ(facts().as_nice, 0u) << "both have the usual priority";
  EXPECT_EQ(facts().nice, 0);
  why.nice = {5, 3, 0, 0};
  EXPECT_EQ(facts().as_nice, 14u);
  EXPECT_EQ(facts().nice, 3) << "the lower value";
}

TEST_F(FactsOfAdvice, HalfOfTheTimeOfANormalClassIsEnough) {
  catalog.threads[3].name = "thread-c";
  why.classes[3] = FTRACE_CLASS_UNKNOWN;
  why.held = {{1, WaitKind::wakeup, thread(2), 50}, {1, WaitKind::wakeup, thread(3), 50}};
  EXPECT_EQ(facts().other_class, FTRACE_CLASS_NORMAL);
  why.held[1].ns++;
  EXPECT_EQ(facts().other_class, FTRACE_CLASS_UNKNOWN);
}

TEST_F(FactsOfAdvice, ADeadlineIsARealTimePriority) {
  why.classes[1] = FTRACE_CLASS_DEADLINE;
  why.waits = {{1, WaitKind::throttling, Culprit(), 3},
               {1, WaitKind::throttling, Culprit(), 2},
               {1, WaitKind::wakeup, thread(2), 10}};
  EXPECT_EQ(facts().throttled_real_time, 5u);
  EXPECT_EQ(facts().behind_lower, 10u);
}

TEST_F(FactsOfAdvice, APreemptorIsOneThreadWhateverItsNameWas) {
  catalog.threads[2].earlier_names = {{.until = 100, .name = "sh"}};
  why.preempted_wakers.most = 0;
  why.waits = {{0, WaitKind::preemption, thread(2).named_at(catalog, 0, 99), 6},
               {0, WaitKind::preemption, thread(2), 5},
               {0, WaitKind::preemption, Culprit(Kind::idle), 10}};
  EXPECT_EQ(facts().preempted_by, "thread-c (13)");
}

TEST_F(FactsOfAdvice, WaitingForAPeriodIsNoMoreThanAllWaiting) {
  why.threads[1].waiting = 10;
  why.held = {{1, WaitKind::period, Culprit(), 7}, {1, WaitKind::budget, Culprit(), 7}};
  EXPECT_EQ(facts().waiting, 0u);
}

} // namespace
} // namespace ovnitrace
