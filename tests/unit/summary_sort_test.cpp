// SPDX-License-Identifier: BSD-2-Clause
// The words by which `info --sort` and `top --sort` order threads.
#include "emulator/summary/groups.h"
#include "emulator/summary/summary.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace ovnitrace {
namespace {

/// Threads of which each is the first by one number.
enum First : uint32_t {
  kRuns,
  kPreempted,
  kThrottled,
  kWoken,
  kBlocked,
  kUnknown,
  kSwitches,
  kLosses,
  kYields,
  kLimits,
  kLeaves,
  kWakeups,
  kMoves,
  kMedian,
  kSlow,
  kWorst,
  kThreads,
};

Summary summary() {
  Summary all;
  all.threads.resize(kThreads);
  all.shown.assign(kThreads, 1);
  const auto time = [&](First thread, ThreadState state) -> uint64_t & {
    return all.threads[thread].time[size_t(state)];
  };
  time(kRuns, ThreadState::Running) = 5;
  time(kPreempted, ThreadState::Cooling) = 50;
  time(kThrottled, ThreadState::Cooling) = 60;
  all.threads[kThrottled].throttling.time = 40;
  time(kWoken, ThreadState::Warming) = 5;
  time(kBlocked, ThreadState::Paused) = 9;
  time(kRuns, ThreadState::Paused) = 10; // but at the start gate
  all.threads[kRuns].gate = 2;
  time(kUnknown, ThreadState::Unknown) = 5;
  ThreadCounters &switches = all.threads[kSwitches];
  switches.preempted = switches.yielded = switches.throttled = switches.voluntary = 2;
  all.threads[kLosses].preempted = 3;
  all.threads[kYields].yielded = 3;
  all.threads[kLimits].throttled = 3;
  all.threads[kLeaves].voluntary = 3;
  all.threads[kWakeups].wakeups = 3;
  all.threads[kMoves].migrations = 3;
  const auto waits = [&](First thread, int many, uint64_t ns) {
    for (int n = 0; n < many; n++)
      all.threads[thread].latency.add(ns);
  };
  waits(kMedian, 100, 20);
  waits(kSlow, 90, 1);
  waits(kSlow, 10, 30);
  waits(kWorst, 999, 1);
  waits(kWorst, 1, 40);
  return all;
}

TEST(SummarySort, EachWordHasItsNumber) {
  const std::map<std::string, First> first = {
      {"running", kRuns},     {"cooling", kThrottled}, {"warming", kWoken},
      {"paused", kBlocked},   {"unknown", kUnknown},   {"switches", kSwitches},
      {"preempted", kLosses}, {"yielded", kYields},    {"throttled", kLimits},
      {"voluntary", kLeaves}, {"wakeups", kWakeups},   {"migrations", kMoves},
      {"woken", kWoken},      {"blocked", kBlocked},   {"latency", kWorst}};
  const Summary all = summary();
  for (const std::string &word : sort_words())
    EXPECT_EQ(sorted_threads(all, word).front(), uint32_t(first.at(word))) << word;
  EXPECT_EQ(sort_words().size(), first.size());
  EXPECT_EQ(sorted_threads(all, "no word").front(), uint32_t(kRuns));
}

TEST(SummarySort, EachColumnOfTopHasItsNumber) {
  const std::map<std::string, First> first = {
      {"run", kRuns},      {"preempt", kPreempted},  {"woken", kWoken},
      {"block", kBlocked}, {"throttle", kThrottled}, {"sw", kSwitches},
      {"p50", kMedian},    {"p99", kSlow},           {"max", kWorst}};
  const Summary all = summary();
  for (const std::string &word : top_sort_words())
    EXPECT_EQ(sorted_threads(all, word).front(), uint32_t(first.at(word))) << word;
  EXPECT_EQ(top_sort_words().size(), first.size());
}

TEST(SummarySort, EqualThreadsStayInTheirOrderAndHiddenOnesAreLeftOut) {
  Summary all;
  all.threads.resize(4);
  all.shown = {1, 1, 0, 1};
  all.threads[2].wakeups = 9;
  all.threads[3].wakeups = 1;
  EXPECT_EQ(sorted_threads(all, "wakeups"), (std::vector<uint32_t>{3, 0, 1}));
}

TEST(SummaryGroups, HaveOnlyThreadsThatTheCutKeeps) {
  Catalog catalog;
  catalog.hosts = {{"one"}};
  catalog.threads = {{.tid = 1, .pid = 1, .name = "a"},
                     {.tid = 2, .pid = 1, .name = "b"},
                     {.tid = 3, .pid = 3, .name = "b"}};
  Summary all;
  all.threads.resize(3);
  all.shown = {1, 1, 0};
  for (size_t thread = 0; thread < 3; thread++)
    all.threads[thread].time[size_t(ThreadState::Running)] = 5 + 2 * thread;
  const std::vector<ThreadGroup> names = by_name(catalog, all, "running");
  ASSERT_EQ(names.size(), 2u);
  EXPECT_EQ(names[0].name, "b");
  EXPECT_EQ(names[0].threads, 1u);
  EXPECT_EQ(names[0].sum.time[size_t(ThreadState::Running)], 7u);
  EXPECT_EQ(names[1].name, "a");
  const std::vector<ThreadGroup> processes = by_process(catalog, all, "running");
  ASSERT_EQ(processes.size(), 1u);
  EXPECT_EQ(processes[0].pid, 1u);
  EXPECT_EQ(processes[0].threads, 2u);
}

} // namespace
} // namespace ovnitrace
