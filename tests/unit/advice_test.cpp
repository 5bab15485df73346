// SPDX-License-Identifier: BSD-2-Clause
// What `why` advises: each rule speaks where the numbers carry it, and nowhere else.
#include "emulator/why/advice.h"

#include "tests/unit/support/project_file.h"

#include <gtest/gtest.h>

namespace ovnitrace {
namespace {

constexpr uint64_t kMs = 1'000'000;

/// Two CPUs for a second; the program ran for 400 ms and waited for 200 ms.
AdviceFacts usual() {
  return {
      .name = "app", .length = 1000 * kMs, .cpus = 2, .running = 400 * kMs, .waiting = 200 * kMs};
}

TEST(Advice, SaysNothingWithoutACause) {
  EXPECT_EQ(advice(usual()), "");
  EXPECT_EQ(advice({}), "");
}

TEST(Advice, QuotaNamesTheThrottledTime) {
  AdviceFacts facts = usual();
  facts.throttled = 60 * kMs;
  EXPECT_EQ(advice(facts), "Try a larger CPU quota: its cgroup had none left for 60.00 ms.");
  facts.throttled = 59 * kMs; // less than 10 % of 600 ms
  EXPECT_EQ(advice(facts), "");
}

TEST(Advice, TimesBelowTenMillisecondsAreNoCause) {
  AdviceFacts facts{.name = "app", .length = kMs, .running = 9 * kMs, .throttled = 9'999'999};
  EXPECT_EQ(advice(facts), "");
  facts.throttled = 10 * kMs;
  EXPECT_NE(advice(facts), "");
}

TEST(Advice, PinnedThreadsBesideAnIdleCpu) {
  AdviceFacts facts = usual();
  facts.behind_own = facts.idle_forbidden = 180 * kMs;
  EXPECT_EQ(
      advice(facts),
      "Try a wider affinity (taskset, OMP_PROC_BIND, cpuset of the cgroup): for 180.0 ms of its "
      "waiting, CPUs were idle, but none that its threads may use.");
}

TEST(Advice, FewerThreadsOnlyWhereMoreWantedACpuThanThereAre) {
  AdviceFacts facts = usual();
  facts.running = 1900 * kMs;
  facts.waiting = 2300 * kMs;
  facts.behind_own = 2000 * kMs;
  EXPECT_EQ(advice(facts),
            "Try fewer threads: 4.2 of them wanted a CPU at a time, and there are 2.");
  facts.single_threaded = true;
  EXPECT_EQ(advice(facts), "Try fewer processes at a time: 4.2 of them wanted a CPU at a time, and "
                           "there are 2.");
  facts.single_threaded = false;
  facts.cpus = 1;
  EXPECT_EQ(advice(facts),
            "Try fewer threads: 4.2 of them wanted a CPU at a time, and there is 1.");
  facts.cpus = 5;
  EXPECT_EQ(advice(facts), "") << "there are CPUs enough";
  facts.cpus = 2;
  facts.waiting = 300 * kMs;
  facts.behind_own = 300 * kMs;
  EXPECT_EQ(advice(facts),
            "Try fewer threads: 2.2 of them wanted a CPU at a time, and there are 2.");
  facts.waiting--;
  EXPECT_EQ(advice(facts), "") << "less than 1.1 times as many as CPUs";
  facts.waiting = 2300 * kMs;
  facts.behind_own = 2000 * kMs;
  facts.cpus = 0;
  EXPECT_EQ(advice(facts), "") << "how many there are is not known";
  facts.cpus = 2;
  facts.behind_own = 1000 * kMs;
  EXPECT_EQ(advice(facts), "") << "others had the CPUs for most of the waiting";
}

TEST(Advice, ThreadsThatMayNotUseAllCpusCanHaveMore) {
  AdviceFacts facts = usual();
  facts.running = 980 * kMs;
  facts.waiting = facts.behind_own = 920 * kMs;
  facts.cpus = 1;
  facts.all_cpus = 2;
  EXPECT_EQ(advice(facts), "Try fewer threads, or a wider affinity (taskset, OMP_PROC_BIND, cpuset "
                           "of the cgroup): 1.9 of "
                           "them wanted a CPU at a time, and they may use 1 of 2 CPUs.");
}

TEST(Advice, TimesOfSeveralThreadsAreCalledSums) {
  AdviceFacts facts = usual();
  facts.threads = 4;
  facts.throttled = 60 * kMs;
  EXPECT_EQ(advice(facts),
            "Try a larger CPU quota: its cgroup had none left for 60.00 ms (sum of 4 threads).");
  facts.idle_forbidden = 70 * kMs;
  EXPECT_EQ(
      advice(facts),
      "Try a wider affinity (taskset, OMP_PROC_BIND, cpuset of the cgroup): for 70.00 ms (sum of 4 "
      "threads) of its waiting, CPUs were idle, but none that its threads may "
      "use.");
  facts.behind_other = 150 * kMs;
  facts.other = "xz (7)";
  EXPECT_EQ(
      advice(facts),
      "app waited 150.0 ms (sum of 4 threads) behind xz (7). Try to move that program to other "
      "CPUs (taskset).");
  facts = usual();
  facts.threads = 4;
  facts.blocked = facts.woken_by_own = 150 * kMs;
  EXPECT_EQ(
      advice(facts),
      "Try `ovnitrace why --critical-path`: its threads waited 150.0 ms (sum of 4 threads) for "
      "each other, and the path shows for what one of them waited at each moment.");
}

TEST(Advice, APreemptedHolderIsTheOneThatWokeTheOthers) {
  AdviceFacts facts = usual();
  facts.woken_by_threads = 400 * kMs;
  facts.behind_preempted = 100 * kMs;
  facts.preempted = "worker (12)";
  facts.preempted_ns = 50 * kMs;
  EXPECT_EQ(advice(facts),
            "Try to keep the CPU of worker (12) free (fewer threads, taskset): this "
            "thread was preempted for 50.00 ms while others were blocked in futex; it woke them "
            "later.");
  facts.woken_by_threads = 401 * kMs;
  EXPECT_EQ(advice(facts), "") << "a small part of the time in futexes";
}

TEST(Advice, AnotherProgramThatHadTheCpus) {
  AdviceFacts facts = usual();
  facts.other = "xz (7)";
  facts.other_class = FTRACE_CLASS_NORMAL;
  facts.behind_other = 150 * kMs;
  EXPECT_EQ(advice(facts),
            "app waited 150.0 ms behind xz (7). Try to move that program to other CPUs "
            "(taskset), or to give it a smaller share (the weight of its cgroup, or nice if both "
            "are in the same cgroup and session).");
  facts.behind_other = 99 * kMs;
  EXPECT_EQ(advice(facts), "") << "less than half of the waiting";
}

TEST(Advice, ANiceValueIsNoAdviceForARealTimePriority) {
  AdviceFacts facts = usual();
  facts.other = "burst (7)";
  facts.behind_other = 150 * kMs;
  EXPECT_EQ(advice(facts),
            "app waited 150.0 ms behind burst (7). Try to move that program to other CPUs "
            "(taskset).")
      << "its class is not known";
  facts.other_class = FTRACE_CLASS_REAL_TIME;
  EXPECT_EQ(advice(facts),
            "app waited 150.0 ms behind burst (7). Try to move that program to other CPUs "
            "(taskset), or to remove its real-time priority (chrt --all-tasks --other -p 0 PID).");
}

TEST(Advice, ALowPriorityOfTheWaitingThreadIsRaisedFirst) {
  AdviceFacts facts = usual();
  facts.other = "xz (7)";
  facts.behind_other = 150 * kMs;
  facts.other_class = FTRACE_CLASS_NORMAL;
  facts.as_nice = 75 * kMs;
  facts.nice = 10;
  EXPECT_EQ(advice(facts),
            "app (nice 10) waited 150.0 ms behind xz (7). Try to raise the priority of app first "
            "(renice, if both are in the same cgroup and session), or to move that program to "
            "other CPUs (taskset).");
  facts.as_nice--;
  EXPECT_EQ(advice(facts).find("nice 10"), std::string::npos) << "other threads waited longer";
}

TEST(Advice, ANiceValueIsNoAdviceForARealTimeThatWaits) {
  AdviceFacts facts = usual();
  facts.other = "xz (7)";
  facts.behind_other = facts.behind_lower = 150 * kMs;
  facts.other_class = FTRACE_CLASS_NORMAL;
  EXPECT_EQ(advice(facts), "app waited 150.0 ms behind xz (7), which has a lower priority: the "
                           "kernel could not preempt it at once. Try to move that program to other "
                           "CPUs (taskset).");
  facts.preempted_lower = 75 * kMs;
  EXPECT_EQ(advice(facts), "app waited 150.0 ms behind xz (7), which has a lower priority: the "
                           "kernel keeps a part of each CPU for normal threads "
                           "(kernel.sched_rt_runtime_us; since Linux 6.12 the fair server).");
}

TEST(Advice, RealTimeThreadsHaveAQuotaOfTheirOwn) {
  AdviceFacts facts = usual();
  facts.throttled = 60 * kMs;
  facts.throttled_real_time = 30 * kMs;
  EXPECT_EQ(advice(facts),
            "Try a larger quota of real-time threads (cpu.rt_runtime_us of the "
            "cgroup, kernel.sched_rt_runtime_us): none was left for at most 60.00 ms.");
}

TEST(Advice, TheRuleAboutMostTimeSpeaks) {
  AdviceFacts facts = usual();
  facts.throttled = 70 * kMs;
  facts.other = "xz (7)";
  facts.behind_other = 120 * kMs;
  EXPECT_EQ(advice(facts).find("app waited 120.0 ms behind xz (7)"), 0u);
  facts.throttled = 121 * kMs;
  EXPECT_EQ(advice(facts).find("Try a larger CPU quota"), 0u);
}

TEST(Advice, TheCriticalPathIsTheLastResort) {
  AdviceFacts facts = usual();
  facts.blocked = 300 * kMs;
  facts.woken_by_own = 150 * kMs;
  const std::string path = "Try `ovnitrace why --critical-path`: its threads waited 150.0 ms for "
                           "each other, and the path shows for what one of them waited at each "
                           "moment.";
  EXPECT_EQ(advice(facts), path);
  facts.blocked++;
  EXPECT_EQ(advice(facts), "") << "less than half of the blocked time";
  facts.blocked--;
  facts.throttled = 60 * kMs;
  EXPECT_EQ(advice(facts).find("Try a larger CPU quota"), 0u);
  facts.throttled = 59 * kMs;
  EXPECT_EQ(advice(facts), path);
  facts.command = "ovnitrace why run1 --comm 'redis*'";
  EXPECT_EQ(advice(facts).find("Try `ovnitrace why run1 --comm 'redis*' --critical-path`: "), 0u);
}

TEST(Advice, EachRuleIsInTheManual) {
  const std::string manual = test::project_file("docs/why.md");
  ASSERT_FALSE(advice_rules().empty());
  for (const AdviceRule &rule : advice_rules())
    EXPECT_NE(manual.find("| " + std::string(rule.name) + " |"), std::string::npos) << rule.name;
}

TEST(Advice, HalfOfTheWaitingIsEnoughForARule) {
  AdviceFacts facts = usual();
  facts.running = 1900 * kMs;
  facts.waiting = 2300 * kMs;
  facts.behind_own = 1150 * kMs;
  facts.all_cpus = 2; // no CPU is forbidden
  EXPECT_EQ(advice(facts),
            "Try fewer threads: 4.2 of them wanted a CPU at a time, and there are 2.");
  facts.behind_own--;
  EXPECT_EQ(advice(facts), "");
  facts = usual();
  facts.other = "xz (7)";
  facts.behind_other = 100 * kMs;
  EXPECT_EQ(advice(facts).find("app waited 100.0 ms behind xz (7). "), 0u);
}

TEST(Advice, APriorityCountsForHalfOfTheTimeBehindAnother) {
  AdviceFacts facts = usual();
  facts.other = "xz (7)";
  facts.other_class = FTRACE_CLASS_NORMAL;
  facts.behind_other = 150 * kMs;
  facts.behind_lower = 75 * kMs;
  EXPECT_NE(advice(facts).find("which has a lower priority"), std::string::npos);
  facts.preempted_lower = 37 * kMs;
  EXPECT_NE(advice(facts).find("could not preempt it at once"), std::string::npos);
  facts.behind_lower--;
  EXPECT_EQ(advice(facts).find("lower priority"), std::string::npos);
}

TEST(Advice, TheFirstOfTwoEqualRulesSpeaks) {
  AdviceFacts facts = usual();
  facts.throttled = facts.behind_other = 120 * kMs;
  facts.other = "xz (7)";
  EXPECT_EQ(advice(facts).find("Try a larger CPU quota"), 0u);
  facts.throttled_real_time = 59 * kMs;
  EXPECT_EQ(advice(facts).find("Try a larger CPU quota"), 0u);
  facts.throttled_real_time = 60 * kMs;
  EXPECT_EQ(advice(facts).find("Try a larger quota of real-time threads"), 0u);
}

} // namespace
} // namespace ovnitrace
