// SPDX-License-Identifier: BSD-2-Clause
// `ovnitrace why`: which time counts, in a cut, in regions and by kind of wait.
#include "tests/unit/support/why_rig.h"

#include <ovnitrace/control.h>

namespace ovnitrace {
namespace {

using test::ChunkBuilder;
using test::kMs;
using test::TraceBuilder;

class ExplainerTest : public test::WhyRig {
protected:
  static ChunkBuilder &region(ChunkBuilder &cpu, uint16_t context, uint32_t event) {
    return cpu.record(FTrace_EXT_region, context, event << FTRACE_REGION_EVENT_SHIFT);
  }
  static Cut cut_of(uint64_t from, uint64_t to) {
    Cut cut;
    cut.from = from;
    cut.to = to;
    return cut;
  }
  const ThreadTime &time_of(uint32_t tid) {
    for (size_t t = 0; t < why.threads.size(); t++)
      if (source->catalog().threads[t].tid == tid)
        return why.threads[t];
    throw std::runtime_error("no such thread");
  }
};

/// Two processes, each in a region of its own: from 100 to 140 and from 120 to 160.
TEST_F(ExplainerTest, TheRecordedTimeIsThatInWhichAnyRegionWasOpen) {
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "a").at(100);
  region(cpu, 1, CONTROL_START).snapshot(1, 1, 0).at(140);
  region(cpu, 1, CONTROL_STOP).at(300).stop();
  auto &other = trace.cpu(1).at(0).start().id(2, 22, 22, "b").at(120);
  region(other, 2, CONTROL_START).snapshot(2, 1, 1).at(160);
  region(other, 2, CONTROL_STOP).at(300).stop();
  const auto recorded = [&](const Cut &cut) {
    explain_all(cut);
    return why.recorded;
  };
  EXPECT_EQ(recorded({}), 60u);
  EXPECT_EQ(time_of(11).running, 40u);
  EXPECT_EQ(time_of(11).outside, 260u);
  EXPECT_EQ(recorded(cut_of(110, 155)), 45u);
  EXPECT_EQ(recorded(cut_of(150, 290)), 10u);
  EXPECT_EQ(recorded(cut_of(10, 125)), 25u);
  EXPECT_EQ(recorded(cut_of(200, 290)), 0u);
  EXPECT_EQ(recorded(cut_of(122, 138)), 16u) << "nothing is outside";
  Cut one;
  one.tids = {22};
  EXPECT_EQ(recorded(one), 40u);
}

TEST_F(ExplainerTest, OnlyTheFirstRegionOfAProcessSaysThatNothingWasRecordedBefore) {
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "a").id(2, 12, 11, "w").id(3, 33, 33, "x");
  cpu.at(10);
  region(cpu, 1, CONTROL_STOP).at(20).dispatch(3).at(50).sleep(3).at(60);
  region(cpu, 1, CONTROL_START).dispatch(1).at(70).sleep(1).dispatch(2).at(100).stop();
  explain_all();
  EXPECT_EQ(time_of(12).outside, 70u) << "another thread of the process";
  EXPECT_EQ(time_of(12).unknown, 0u);
  EXPECT_EQ(time_of(33).outside, 0u);
  EXPECT_EQ(time_of(33).unknown, 20u) << "another process";
}

TEST_F(ExplainerTest, ARegionOfOneHostSaysNothingOfAnother) {
  test::TempDir other_dir;
  TraceBuilder other(other_dir.path());
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "a").at(20);
  region(cpu, 1, CONTROL_START).dispatch(1).at(100).stop();
  other.cpu(0).at(0).start().id(1, 11, 11, "a").at(50).dispatch(1).at(100).stop();
  trace.write();
  other.write();
  source = open_trace({{dir.path()}, {other_dir.path()}}, sink);
  why = explain(*source, {});
  ASSERT_EQ(why.threads.size(), 2u);
  EXPECT_EQ(why.threads[0].outside, 20u);
  EXPECT_EQ(why.threads[1].outside, 0u);
  EXPECT_EQ(why.threads[1].unknown, 50u);
}

TEST_F(ExplainerTest, EachThreadThatRanSaysWhichCpusItMayUse) {
  const auto allowed = [&](bool told, bool runs, const Cut &cut = {}) {
    trace = TraceBuilder(dir.path());
    trace.json(R"({"version": 1, "all_threads": true})");
    auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "a").id(2, 12, 11, "b").id(3, 33, 33, "c");
    affinity(cpu, 1, 0b0011);
    affinity(cpu, 2, 0b0100);
    if (told)
      affinity(cpu, 3, 0b0001);
    cpu.dispatch(1).at(10).epilogue(1, 12).dispatch(2).at(20).end(2, 11);
    if (runs)
      cpu.dispatch(3).at(30).sleep(3);
    cpu.at(40).stop();
    for (const uint16_t n : {1, 2, 3})
      trace.cpu(n).at(0).start().at(40).stop();
    explain_all(cut);
    return why.allowed_cpus;
  };
  EXPECT_EQ(allowed(true, true), 3u);
  EXPECT_EQ(allowed(false, true), 0u) << "c may use any";
  EXPECT_EQ(allowed(false, false), 3u) << "it did not run";
  Cut cut;
  cut.tids = {12};
  EXPECT_EQ(allowed(true, true, cut), 1u);
}

/// worker waits from 2 to 7 ms. CPU 1 is idle all the time.
TEST_F(ExplainerTest, WhatAWaitFromBeforeTheCutMissedIsNotKnown) {
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "worker").id(2, 22, 22, "hog");
  affinity(cpu, 1, 0b11).dispatch(1).at(1 * kMs).sleep(1, 22).dispatch(2);
  cpu.at(2 * kMs).activate(1, 22).at(7 * kMs).epilogue(2, 11).dispatch(1).at(10 * kMs).stop();
  trace.cpu(1).at(0).start().id(3, 33, 33, "x").dispatch(3).sleep(3).at(10 * kMs).stop();
  Cut cut;
  cut.tids = {11};
  explain_all(cut);
  EXPECT_EQ(time_of(11).idle_known, 5 * kMs);
  EXPECT_EQ(time_of(11).idle_elsewhere, 5 * kMs);
  EXPECT_EQ(why.wait_lengths[size_t(WaitKind::wakeup)].count(), 1u);
  EXPECT_EQ(why.wakes.at(0).late, 5 * kMs);
  cut.from = 2 * kMs + 1;
  explain_all(cut);
  EXPECT_EQ(time_of(11).waiting, 5 * kMs - 1);
  EXPECT_EQ(time_of(11).idle_known, 0u);
  EXPECT_EQ(why.wait_lengths[size_t(WaitKind::wakeup)].count(), 0u) << "it was not seen whole";
  EXPECT_TRUE(why.wakes.empty());
  cut.from = 2 * kMs;
  cut.to = 7 * kMs - 1;
  explain_all(cut);
  EXPECT_EQ(why.wait_lengths[size_t(WaitKind::wakeup)].count(), 0u);
  EXPECT_EQ(why.wakes.at(0).count, 1u);
  EXPECT_EQ(why.wakes.at(0).measured, 0u);
}

TEST_F(ExplainerTest, AWaitOfNoLengthCountsInTheInstantInWhichTheCutStarts) {
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "a").dispatch(1).at(100).sleep(1);
  cpu.at(200).activate(1, 0, FTRACE_WAKER_HARDIRQ).dispatch(1).at(400).stop();
  Cut cut;
  cut.from = 200;
  explain_all(cut);
  ASSERT_EQ(why.wakes.size(), 1u);
  EXPECT_EQ(why.wakes[0].count, 1u);
  EXPECT_EQ(why.wakes[0].measured, 1u);
  EXPECT_TRUE(why.blocks.empty()) << "the block was over";
  EXPECT_EQ(time_of(11).running, 200u);
  cut.from = 201;
  explain_all(cut);
  EXPECT_TRUE(why.wakes.empty());
  EXPECT_EQ(time_of(11).running, 199u);
}

/// The thread is blocked from 100 to 200, and from 300 to 400.
TEST_F(ExplainerTest, ABlockThatBeganBeforeTheCutIsNotCounted) {
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "a").dispatch(1);
  for (const uint64_t from : {100, 300})
    cpu.at(from).sleep(1).at(from + 100).activate(1, 0, FTRACE_WAKER_HARDIRQ).dispatch(1);
  cpu.at(500).stop();
  const auto counted = [&](const Cut &cut) {
    explain_all(cut);
    return std::pair(why.blocks.at(0).ns, why.blocks.at(0).count);
  };
  using Counted = std::pair<uint64_t, uint64_t>;
  EXPECT_EQ(counted(cut_of(100, 400)), Counted(200, 2));
  EXPECT_EQ(counted(cut_of(101, 400)), Counted(199, 1));
}

TEST_F(ExplainerTest, AThreadThatDiesWhileItWaitsNeverGotItsCpu) {
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "a").id(2, 22, 22, "b").dispatch(1);
  cpu.at(100).sleep(1, 22).dispatch(2).at(200).activate(1, 22).at(300).end(1, 11).at(400).stop();
  explain_all();
  EXPECT_EQ(time_of(11).waiting, 100u);
  EXPECT_EQ(why.wait_lengths[size_t(WaitKind::wakeup)].count(), 0u);
  ASSERT_EQ(why.wakes.size(), 1u);
  EXPECT_EQ(why.wakes[0].count, 1u);
  EXPECT_EQ(why.wakes[0].measured, 0u);
  EXPECT_EQ(why.wakes[0].late, 0u);
}

TEST_F(ExplainerTest, NoCpuWouldHaveHelpedASpinOrAThrottledThread) {
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "a").id(2, 22, 22, "b");
  affinity(cpu, 1, 0b11).dispatch(1);
  uint64_t time = 0;
  const auto wait = [&](uint32_t reason, uint64_t ns) {
    cpu.at(time += 1000).epilogue(1, 22, reason).dispatch(2);
    cpu.at(time += ns).epilogue(2, 11).dispatch(1);
  };
  for (const uint64_t ns : {70, 50, 30}) // a yield and two spins
    wait(FTRACE_OFFCPU_YIELDED, ns);
  for (int n = 0; n < 120; n++)
    wait(FTRACE_OFFCPU_PREEMPTED, 7);
  for (int n = 0; n < 50; n++)
    wait(FTRACE_OFFCPU_THROTTLED, 100'000);
  cpu.at(time + 1000).stop();
  trace.cpu(1).at(0).start().id(3, 33, 33, "x").dispatch(3).sleep(3).at(time + 1000).stop();
  Cut cut;
  cut.tids = {11};
  explain_all(cut);
  EXPECT_EQ(time_of(11).spinning, 80u);
  EXPECT_EQ(time_of(11).idle_known, 70u + 120 * 7);
  EXPECT_EQ(time_of(11).idle_elsewhere, 70u + 120 * 7);
  EXPECT_EQ(why.wait_lengths[size_t(WaitKind::spin)].count(), 2u);
  EXPECT_EQ(why.wait_lengths[size_t(WaitKind::throttling)].count(), 50u);
  EXPECT_EQ(why.tail.all, 121u);
  EXPECT_EQ(why.tail.shortest, 70u);
}

TEST_F(ExplainerTest, TenOfTheLongestBlocksAreKept) {
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "a").dispatch(1);
  uint64_t time = 0;
  for (uint64_t n = 1; n <= 12; n++) {
    cpu.at(time += 10).sleep(1);
    cpu.at(time += 100 * n).activate(1, 0, FTRACE_WAKER_HARDIRQ).dispatch(1);
  }
  cpu.at(time + 10).stop();
  explain_all();
  ASSERT_EQ(why.longest_blocks.size(), 10u);
  EXPECT_EQ(why.longest_blocks.front().length(), 1200u);
  EXPECT_EQ(why.longest_blocks.back().length(), 300u);
  ASSERT_EQ(why.blocks.size(), 1u);
  EXPECT_EQ(why.blocks[0].ns, 7800u);
  EXPECT_EQ(why.blocks[0].count, 12u);
  EXPECT_EQ(why.block_lengths.at(0).second.count(), 12u);
}

} // namespace
} // namespace ovnitrace
