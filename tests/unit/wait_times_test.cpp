// SPDX-License-Identifier: BSD-2-Clause
// Waits by holder of the CPU, with too many holders to keep all apart.
#include "emulator/open/open_trace.h"
#include "emulator/why/explainer.h"
#include "emulator/why/wait_times.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <tuple>

namespace ovnitrace {
namespace {

using Times = std::map<std::tuple<uint32_t, WaitKind, uint32_t>, uint64_t>; // thread, kind, holder

constexpr uint32_t kHog = 7;

/// Waits of each thread behind up to so many holders, one of which has the CPU half of the time.
/// What is true.
Times add_waits(WaitTimes &times, uint32_t threads, uint32_t holders, uint32_t waits) {
  std::mt19937 random(5);
  Times all;
  for (uint32_t n = 0; n < waits; n++)
    for (uint32_t thread = 0; thread < threads; thread++) {
      const WaitKind kind = WaitKind(random() % 2);
      HolderSums sums;
      for (uint32_t part = 0; part < 20; part++) {
        const uint32_t holder = part % 2 ? kHog : 1 + uint32_t(random() % holders);
        const uint64_t ns = 1 + random() % 100;
        sums.of({holder}).ns += ns;
        all[{thread, kind, holder}] += ns;
      }
      times.add(thread, kind, sums);
    }
  return all;
}

Times take(WaitTimes &times, uint32_t threads) {
  Times all;
  for (uint32_t thread = 0; thread < threads; thread++)
    for (const WaitTimes::Sum &sum : times.take(thread))
      EXPECT_TRUE(all.insert({{thread, sum.kind, sum.holder}, sum.ns}).second);
  return all;
}

/// All time is there, and none is given to anybody who did not have it. Returns how many have sums
/// of their own.
size_t expect_bounded(const Times &kept, const Times &expected) {
  std::map<std::pair<uint32_t, WaitKind>, int64_t> missing;
  size_t named = 0;
  for (const auto &[key, ns] : expected)
    missing[{std::get<0>(key), std::get<1>(key)}] += int64_t(ns);
  for (const auto &[key, ns] : kept) {
    const auto [thread, kind, holder] = key;
    missing[{thread, kind}] -= int64_t(ns);
    if (holder == CpuHolders::kOthers)
      continue;
    named++;
    EXPECT_LE(ns, expected.at(key));
    EXPECT_TRUE(holder != kHog || ns == expected.at(key)) << "who has most is never dropped";
  }
  for (const auto &[key, ns] : missing)
    EXPECT_EQ(ns, 0);
  for (const auto &[key, ns] : expected)
    EXPECT_TRUE(std::get<2>(key) != kHog || kept.count(key));
  return named;
}

TEST(WaitTimes, NotTooManyAreAllKeptApart) {
  WaitTimes times(50);
  const Times expected = add_waits(times, 50, 400, 100); // of two kinds
  EXPECT_EQ(take(times, 50), expected);
}

TEST(WaitTimes, OneThreadKeepsItsLongestSums) {
  WaitTimes times(2);
  const Times expected = add_waits(times, 2, 5000, 2000);
  ASSERT_GT(expected.size(), 10000u);
  EXPECT_EQ(expect_bounded(take(times, 2), expected), 2u * 1024);
}

/// A million sums of all threads together are kept. With one more, each thread keeps its 16
/// longest.
TEST(WaitTimes, ManyThreadsKeepFewerSumsEach) {
  constexpr uint32_t kThreads = 1000, kHolders = 1000;
  HolderSums wait, one_more;
  for (uint32_t holder = 1; holder <= kHolders; holder++)
    wait.of({holder}).ns = holder;
  one_more.of({1}).ns = 5;
  for (const bool more : {false, true}) {
    WaitTimes times(kThreads + 1);
    for (uint32_t thread = 0; thread < kThreads; thread++)
      times.add(thread, WaitKind::preemption, wait);
    if (more)
      times.add(kThreads, WaitKind::preemption, one_more);
    for (uint32_t thread = 0; thread < kThreads; thread++) {
      std::map<uint32_t, uint64_t> ns;
      for (const WaitTimes::Sum &sum : times.take(thread))
        ns[sum.holder] = sum.ns;
      ASSERT_EQ(ns.size(), more ? 17u : kHolders) << thread;
      ASSERT_EQ(ns[kHolders], kHolders);
      ASSERT_EQ(ns[kHolders - 15], kHolders - 15);
      ASSERT_EQ(ns[CpuHolders::kOthers], more ? (kHolders - 16) * (kHolders - 15) / 2 : 0);
    }
    EXPECT_EQ(times.take(kThreads).size(), more);
  }
}

/// Two threads have a CPU in turn while more wait there than are followed.
TEST(WaitTimes, ManyWaitersOfOneCpuAreSummedAsOthers) {
  constexpr uint16_t kWaiters = 1100;
  constexpr uint64_t kTurns = 5000;
  test::TempDir dir;
  test::TraceBuilder trace(dir.path());
  auto &cpu = trace.cpu(0).at(0).start().id(1, 1, 1, "a").id(2, 2, 1, "b").dispatch(1);
  for (uint16_t n = 0; n < kWaiters; n++)
    cpu.id(uint16_t(10 + n), 10 + n, 1, "waits")
        .snapshot(uint16_t(10 + n), uint32_t(ThreadState::Warming), 0);
  for (uint64_t turn = 1; turn <= kTurns; turn++) // a has it for 1 ns, b for 2
    cpu.at(turn / 2 * 3 + turn % 2)
        .epilogue(turn % 2 ? 1 : 2, turn % 2 ? 2 : 1)
        .dispatch(turn % 2 ? 2 : 1);
  cpu.stop();
  trace.write();
  test::CollectingSink sink;
  const auto source = open_trace({{dir.path()}}, sink);
  const Explanation why = explain(*source, {});
  constexpr uint64_t kEnd = kTurns / 2 * 3;
  std::map<uint32_t, uint64_t> waited, others;
  for (const WaitSum &sum : why.waits) {
    const bool is_b = sum.holder == Culprit(Culprit::Kind::thread, 1);
    const bool is_other = sum.holder.kind() == Culprit::Kind::others;
    waited[sum.thread] += sum.ns;
    others[sum.thread] += is_other ? sum.ns : 0;
    EXPECT_TRUE(is_other || sum.ns <= kEnd * (is_b ? 2 : 1) / 3);
  }
  std::erase_if(others, [](const auto &entry) { return entry.second == 0; });
  for (uint32_t thread = 2; thread < 2 + kWaiters; thread++)
    EXPECT_EQ(waited[thread], kEnd);
  EXPECT_EQ(others.size(), kWaiters + 1 - 1024u) << "one of a and b waits too";
  ASSERT_EQ(why.held.size(), 4u) << "a and b wait for each other, after another cause";
  for (const WaitSum &sum : why.held) {
    const uint64_t has = kEnd * (sum.holder == Culprit(Culprit::Kind::thread, 1) ? 2 : 1) / 3;
    const bool preempted = sum.kind == WaitKind::preemption;
    EXPECT_EQ(sum.ns, preempted ? has - (has == kEnd / 3) : kWaiters * has);
  }
}

} // namespace
} // namespace ovnitrace
