// SPDX-License-Identifier: BSD-2-Clause
// What a summary adds up of events beside the scheduler's, at the limits.
#include "tests/unit/support/summed.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <gtest/gtest.h>

namespace ovnitrace {
namespace {

using test::sum_up;
using test::Summed;
using test::TempDir;
using test::TraceBuilder;

struct FamilyTimesOf : ::testing::Test {
  FamilyTimesOf() : trace(dir.path()), cpu(trace.cpu(0)) {
    cpu.at(1000).start().id(1, 11, 11, "a").dispatch(1);
  }
  Summed summed() {
    cpu.at(90'000).stop();
    return sum_up(trace, dir.path());
  }
  void interrupt(uint64_t time, uint32_t code, uint16_t number) {
    cpu.at(time).record(uint16_t(code), number, 11);
  }
  TempDir dir;
  TraceBuilder trace;
  test::ChunkBuilder &cpu;
};

TEST_F(FamilyTimesOf, IdleStatesEndWhereTheNextOneBegins) {
  cpu.at(2000).record(FTrace_EXT_idle_start, 0, 1).at(2100).record(FTrace_EXT_idle_start, 0, 63);
  cpu.at(2300).record(FTrace_EXT_idle_end).at(2400).record(FTrace_EXT_idle_end);
  cpu.at(3000).record(FTrace_EXT_idle_start, 0, 64).at(3100).record(FTrace_EXT_idle_end);
  cpu.at(4000).record(FTrace_EXT_idle_start, 0, 1).at(4100).blackout_start().blackout_end(1);
  cpu.at(4200).record(FTrace_EXT_idle_end);
  const auto idle = summed().summary.cpus[0].idle;
  ASSERT_EQ(idle.size(), 2u) << "the kernel has fewer than 64, and a loss may hide an end";
  EXPECT_EQ(idle.at(1).time, 100u);
  EXPECT_EQ(idle.at(1).max_at, 2100u);
  EXPECT_EQ(idle.at(63).time, 200u);
  EXPECT_EQ(idle.at(63).count, 1u);
}

TEST_F(FamilyTimesOf, StolenTimeIsGivenInMicroseconds) {
  cpu.at(2000).record(FTrace_EXT_steal, 0, 3).at(3000).record(FTrace_EXT_steal, 0, 4);
  EXPECT_EQ(summed().summary.cpus[0].stolen, 7000u);
}

TEST_F(FamilyTimesOf, StolenTimeIsKnownEvenIfThereIsNone) {
  trace.cpu(1).at(1000).start().at(2000).record(FTrace_EXT_steal, 0, 0).at(90'000).stop();
  const Summed all = summed();
  EXPECT_FALSE(all.summary.cpus[0].stolen_known);
  EXPECT_TRUE(all.summary.cpus[1].stolen_known);
}

TEST_F(FamilyTimesOf, AJobIsLateForTheTimeThatItsEventSays) {
  cpu.at(5000).record(FTrace_EVT_task_deadline_miss, 1, 300);
  cpu.at(6000).record(FTrace_EVT_task_deadline_miss, 1, 100);
  const Spans late = summed().thread(11).late;
  EXPECT_EQ(late.count, 2u);
  EXPECT_EQ(late.time, 400u);
  EXPECT_EQ(late.max, 300u);
  EXPECT_EQ(late.max_at, 5000u);
}

TEST_F(FamilyTimesOf, AJobIsLateSinceTheStartOfTheClockAtMost) {
  cpu.at(5000).record(FTrace_EVT_task_deadline_miss, 1, 7000);
  EXPECT_EQ(summed().thread(11).late.time, 5000u);
}

TEST_F(FamilyTimesOf, ABudgetThatIsGivenBackIsNotUsedUp) {
  cpu.at(2000).record(FTrace_EVT_server_replenish, 1, 9).record(FTrace_EVT_server_replenish, 1, 9);
  cpu.at(3000).record(FTrace_EVT_server_exhaust, 1, 5);
  cpu.at(4000).record(FTrace_EVT_server_exhaust, 1, FTRACE_SERVER_YIELDED | 5);
  cpu.at(4100).record(FTrace_EVT_server_replenish, 1, 9);
  const Summed all = summed();
  EXPECT_EQ(all.thread(11).budgets, 3u);
  EXPECT_EQ(all.thread(11).budgets_used_up, 1u);
}

TEST_F(FamilyTimesOf, AnEndEndsTheInterruptsWithinToo) {
  interrupt(2000, FTrace_EVT_interrupt_start, 1);
  interrupt(2010, FTrace_EVT_interrupt_start, 2);
  interrupt(2030, FTrace_EVT_interrupt_start, 3);
  interrupt(2040, FTrace_EVT_interrupt_end, 2);
  interrupt(2045, FTrace_EVT_interrupt_end, 3);
  interrupt(2100, FTrace_EVT_interrupt_end, 1);
  const auto cpus = summed().summary.cpus;
  EXPECT_EQ(cpus[0].interrupt.count(3), 0u);
  EXPECT_EQ(cpus[0].interrupt.at(2).time, 30u);
  EXPECT_EQ(cpus[0].interrupt.at(2).max_at, 2040u);
  EXPECT_EQ(cpus[0].interrupt.at(1).time, 70u);
  EXPECT_EQ(cpus[0].interrupts, 100u);
}

TEST_F(FamilyTimesOf, InterruptsThatAreFilteredEndUnseenOnEveryCpu) {
  trace.cpu(1).at(1000).start().at(2000).record(FTrace_EVT_interrupt_start, 5, 0);
  trace.cpu(1).at(2500).record(FTrace_EVT_interrupt_end, 5, 0).at(90'000).stop();
  interrupt(2000, FTrace_EVT_interrupt_start, 5);
  cpu.at(2100).record(FTrace_filter_interrupt, 1).at(2200).record(FTrace_filter_interrupt, 0);
  interrupt(2300, FTrace_EVT_interrupt_end, 5);
  interrupt(2400, FTrace_EVT_interrupt_start, 5);
  cpu.at(2450).record(FTrace_filter_interrupt, 0); // it was on already
  interrupt(2500, FTrace_EVT_interrupt_end, 5);
  const auto cpus = summed().summary.cpus;
  EXPECT_EQ(cpus[0].interrupt.at(5).time, 100u);
  EXPECT_TRUE(cpus[1].interrupt.empty());
}

TEST_F(FamilyTimesOf, SectionsNestFiveHundredAndTwelveDeep) {
  for (uint32_t n = 1; n <= 513; n++)
    cpu.at(2000 + n).record(FTrace_EVT_user_event_13, 0, n);
  for (uint32_t n = 513; n >= 512; n--)
    cpu.at(5000).record(FTrace_EVT_user_event_14, 0, n);
  const auto sections = summed().summary.sections;
  ASSERT_EQ(sections.size(), 1u);
  EXPECT_EQ(sections.begin()->first, 512u);
  EXPECT_EQ(sections.begin()->second.time, 5000u - 2512);
}

TEST_F(FamilyTimesOf, ThreadThatEndsLeavesNoWaitAndNoSection) {
  cpu.at(2000).record(FTrace_EVT_mutex_wait, 1, 64).record(FTrace_EVT_user_event_13, 0, 7);
  cpu.at(3000).end(1).at(4000).dispatch(1).record(FTrace_EVT_mutex_lock, 1, 64);
  cpu.record(FTrace_EVT_user_event_14, 0, 7);
  const Summed all = summed();
  EXPECT_EQ(all.thread(11).mutex_waits.count, 0u);
  EXPECT_TRUE(all.summary.sections.empty());
}

TEST_F(FamilyTimesOf, SixtyFiveThousandNumbersOfSectionsAreKept) {
  constexpr uint32_t kMost = 65536;
  const auto section = [&](uint32_t number) {
    cpu.record(FTrace_EVT_user_event_13, 0, number).record(FTrace_EVT_user_event_14, 0, number);
  };
  cpu.at(2000);
  for (uint32_t number = 1; number <= kMost + 1; number++)
    section(number);
  section(7);
  const auto sections = summed().summary.sections;
  EXPECT_EQ(sections.size(), kMost);
  EXPECT_TRUE(sections.contains(kMost));
  EXPECT_EQ(sections.at(7).count, 2u) << "it has its place";
}

TEST_F(FamilyTimesOf, InterruptsNestFiveHundredAndTwelveDeep) {
  for (uint16_t n = 1; n <= 513; n++)
    interrupt(2000u + n, FTrace_EVT_interrupt_start, n);
  interrupt(3000, FTrace_EVT_interrupt_end, 513);
  interrupt(4000, FTrace_EVT_interrupt_end, 512);
  const auto cpus = summed().summary.cpus;
  ASSERT_EQ(cpus[0].interrupt.size(), 1u);
  EXPECT_EQ(cpus[0].interrupt.at(512).time, 4000u - 2512);
}

TEST_F(FamilyTimesOf, TheTimeOfAnInterruptIsWithoutThoseWithinIt) {
  interrupt(2000, FTrace_EVT_interrupt_start, 1);
  interrupt(2100, FTrace_EVT_interrupt_start, 2);
  interrupt(2110, FTrace_EVT_interrupt_end, 2);
  interrupt(2200, FTrace_EVT_interrupt_start, 2);
  interrupt(2205, FTrace_EVT_interrupt_start, 3);
  interrupt(2225, FTrace_EVT_interrupt_end, 3);
  interrupt(2230, FTrace_EVT_interrupt_end, 2);
  interrupt(2300, FTrace_EVT_interrupt_end, 1);
  const auto cpus = summed().summary.cpus;
  EXPECT_EQ(cpus[0].interrupt.at(1).time, 300u - 10 - 30);
  EXPECT_EQ(cpus[0].interrupt.at(2).time, 10u + 10);
  EXPECT_EQ(cpus[0].interrupt.at(2).count, 2u);
  EXPECT_EQ(cpus[0].interrupt.at(2).max, 10u);
  EXPECT_EQ(cpus[0].interrupt.at(2).max_at, 2110u);
  EXPECT_EQ(cpus[0].interrupt.at(3).time, 20u);
  EXPECT_EQ(cpus[0].interrupts, 300u);
}

} // namespace
} // namespace ovnitrace
