// SPDX-License-Identifier: BSD-2-Clause
// The models of interrupts and signals.
#include "tests/unit/support/replay_rig.h"

#include <gtest/gtest.h>

namespace ovnitrace {
namespace {

using test::ReplayRig;
using test::Timeline;

constexpr uint16_t kSoftTimer = FTRACE_INTERRUPT_SOFT | 1;

class InterruptModel : public ::testing::Test {
protected:
  ReplayRig &start(uint64_t time, uint16_t number, uint32_t thread, uint32_t cpu = 0) {
    return rig.at(time).ftrace(FTrace_EVT_interrupt_start, kNone, cpu, 0, thread, number);
  }
  ReplayRig &end(uint64_t time, uint16_t number, uint32_t thread, uint32_t cpu = 0) {
    return rig.at(time).ftrace(FTrace_EVT_interrupt_end, kNone, cpu, 0, thread, number);
  }
  ReplayRig rig;
};

TEST_F(InterruptModel, IsShownOnTheCpuAndOnTheThreadThatItHits) {
  rig.at(1).dispatch(0);
  start(10, 9, 0);
  end(20, 9, 0).flush();
  EXPECT_EQ(rig.cpus.timeline(0, 400), (Timeline{{10, 10}, {20, 0}}));
  EXPECT_EQ(rig.threads.timeline(0, 401), (Timeline{{10, 10}, {20, 0}}));
  EXPECT_EQ(rig.threads.timeline(1, 401), (Timeline{}));
  EXPECT_EQ(rig.cpus.timeline(1, 400), (Timeline{}));
}

TEST_F(InterruptModel, TheInnermostInterruptIsShown) {
  rig.at(1).dispatch(0);
  start(10, kSoftTimer, 0);
  start(12, 9, 0);
  end(14, 9, 0);
  end(20, kSoftTimer, 0).flush();
  Timeline expected = {{10, kSoftTimer + 1}, {12, 10}, {14, kSoftTimer + 1}, {20, 0}};
  EXPECT_EQ(rig.cpus.timeline(0, 400), expected);
  EXPECT_EQ(rig.threads.timeline(0, 401), expected);
}

TEST_F(InterruptModel, AnEndWithoutItsStartIsNothing) {
  start(5, 9, kNone);
  end(6, 8, kNone);
  end(7, 9, kNone);
  end(8, 9, kNone).flush();
  EXPECT_EQ(rig.cpus.timeline(0, 400), (Timeline{{5, 10}, {7, 0}}));
  EXPECT_EQ(rig.faults(), 0u);
}

TEST_F(InterruptModel, AnEndAlsoEndsInnerInterruptsWithoutAnEnd) {
  start(5, kSoftTimer, 0);
  start(6, 9, 0);
  end(7, kSoftTimer, 0).flush();
  EXPECT_EQ(rig.cpus.timeline(0, 400), (Timeline{{5, kSoftTimer + 1}, {6, 10}, {7, 0}}));
  EXPECT_EQ(rig.threads.timeline(0, 401), (Timeline{{5, kSoftTimer + 1}, {6, 10}, {7, 0}}));
}

TEST_F(InterruptModel, NothingIsServedAfterABlackoutBegan) {
  start(5, 9, 0);
  rig.at(6).ftrace(FTrace_EVT_blackout_start, kNone).flush();
  EXPECT_EQ(rig.cpus.timeline(0, 400), (Timeline{{5, 10}, {6, 0}}));
  EXPECT_EQ(rig.threads.timeline(0, 401), (Timeline{{5, 10}, {6, 0}}));
}

TEST_F(InterruptModel, HitsArePunctualAndCountsAreKept) {
  rig.at(5).ftrace(FTrace_EVT_interrupt_hit, kNone, 0, 0, kNone, 3).flush();
  rig.at(9).ftrace(FTrace_EVT_interrupt_count, kNone, 0, 17).flush();
  EXPECT_EQ(rig.cpus.timeline(0, 400), (Timeline{{4, 4}, {5, 0}}));
  EXPECT_EQ(rig.cpus.timeline(0, 402), (Timeline{{9, 17}}));
}

TEST_F(InterruptModel, NestsNoDeeperThanAnyMachine) {
  for (uint16_t n = 0; n < 1000; n++)
    start(5 + n, n, 0);
  end(2000, 0, 0).flush();
  EXPECT_EQ(rig.cpus.timeline(0, 400).back(), (std::pair<uint64_t, int64_t>{2000, 0}));
}

TEST_F(InterruptModel, BelongsToItsOwnCpuAndThread) {
  start(10, 5, 1, 1);
  start(12, 9, 0, 1);
  end(14, 9, 0, 1);
  end(20, 5, 1, 1).flush();
  EXPECT_EQ(rig.cpus.timeline(1, 400), (Timeline{{10, 6}, {12, 10}, {14, 6}, {20, 0}}));
  EXPECT_EQ(rig.cpus.timeline(0, 400), Timeline());
  EXPECT_EQ(rig.threads.timeline(1, 401), (Timeline{{10, 6}, {20, 0}}));
  EXPECT_EQ(rig.threads.timeline(0, 401), (Timeline{{12, 10}, {14, 0}}));
}

TEST(SignalModel, IsPunctualWhenSentAndWhenTaken) {
  ReplayRig rig;
  rig.at(5).ftrace(FTrace_EVT_signal, 1, 0, 10u << FTRACE_SIGNAL_SHIFT | 100, 0).flush();
  rig.at(8).ftrace(FTrace_EVT_signal, 1, 1, 10u << FTRACE_SIGNAL_SHIFT | FTRACE_SIGNAL_DELIVERED);
  rig.flush();
  EXPECT_EQ(rig.threads.timeline(1, 410), (Timeline{{4, 10}, {5, 0}}));
  EXPECT_EQ(rig.threads.timeline(1, 411), (Timeline{{7, 10}, {8, 0}}));
  ASSERT_EQ(rig.threads.arrows.size(), 1u);
  EXPECT_EQ(rig.threads.arrows[0].from, 0u);
  EXPECT_EQ(rig.threads.arrows[0].to, 1u);
  EXPECT_EQ(rig.threads.arrows[0].tag, 1010u) << "1000 + the signal: tags of wakeups are smaller";
}

TEST(SignalModel, OneFromTheKernelOrToOneselfHasNoArrow) {
  ReplayRig rig;
  rig.at(5).ftrace(FTrace_EVT_signal, 1, 0, 14u << FTRACE_SIGNAL_SHIFT).flush();
  rig.at(8).ftrace(FTrace_EVT_signal, 1, 0, 10u << FTRACE_SIGNAL_SHIFT | 101, 1).flush();
  EXPECT_EQ(rig.threads.arrows.size(), 0u);
  EXPECT_EQ(rig.threads.timeline(1, 410).size(), 4u);
}

TEST(SignalModel, ArrowsOfOneInstantAreLimited) {
  ReplayRig rig;
  rig.at(5);
  for (size_t n = 0; n < kMostOfAnInstant + 2; n++)
    rig.ftrace(FTrace_EVT_signal, 0, 0, 9 << FTRACE_SIGNAL_SHIFT, 1);
  rig.flush();
  EXPECT_EQ(rig.threads.arrows.size(), kMostOfAnInstant);
}

TEST(SignalModel, SignalsWithoutParametersAreNotShown) {
  ReplayRig rig;
  rig.at(5).ftrace(FTrace_EVT_signal, 1).flush();
  EXPECT_EQ(rig.threads.timeline(1, 410), (Timeline{}));
  EXPECT_EQ(rig.faults(), 0u);
}

TEST(SignalModel, SharkSignalIsShownWithoutANumber) {
  ReplayRig rig;
  rig.at(5).manual(FTrace_EVT_signal, 1).flush();
  rig.at(9).manual(FTrace_EVT_signal, 1, 10u << FTRACE_SIGNAL_SHIFT | 100).flush();
  EXPECT_EQ(rig.threads.timeline(1, 412), (Timeline{{4, 1}, {5, 0}, {8, 1}, {9, 0}}));
  EXPECT_EQ(rig.threads.timeline(1, 410), (Timeline{}));
  EXPECT_EQ(rig.threads.timeline(1, 411), (Timeline{}));
  EXPECT_EQ(rig.threads.arrows.size(), 0u);
}

TEST(InterruptCount, IsInEitherParameter) {
  ReplayRig rig;
  rig.at(5).ftrace(FTrace_EVT_interrupt_count, kNone, 0, 0, kNone, 9);
  rig.at(6).ftrace(FTrace_EVT_interrupt_count, kNone, 0, 7, kNone, 9).flush();
  EXPECT_EQ(rig.cpus.timeline(0, 402), (Timeline{{5, 9}, {6, 7}}));
}

TEST(CycleModel, ACycleThatTookNoTimeIsShown) {
  ReplayRig rig;
  rig.at(5).ftrace(FTrace_EVT_task_begin_cycle, 0).ftrace(FTrace_EVT_task_end_cycle, 0).flush();
  EXPECT_EQ(rig.threads.timeline(0, 461), (Timeline{{4, 1}, {5, 0}}));
}

TEST(CycleModel, CyclesAreNumberedAndThoseThatDoNotFitAreReported) {
  ReplayRig rig;
  rig.at(10)
      .ftrace(FTrace_EVT_task_begin_cycle, 1)
      .at(20)
      .ftrace(FTrace_EVT_task_end_cycle, 1, 0, 4);
  rig.at(30).ftrace(FTrace_EVT_task_begin_cycle, 1).flush();
  EXPECT_EQ(rig.faults(), 0u);
  rig.at(40).ftrace(FTrace_EVT_task_begin_cycle, 1);
  EXPECT_EQ(rig.last_fault(), "t1 (101) starts a cycle, but cycle 2 has not ended");
  rig.at(55).ftrace(FTrace_EVT_task_end_cycle, 1).at(60).ftrace(FTrace_EVT_task_end_cycle, 1);
  EXPECT_EQ(rig.last_fault(), "t1 (101) ends a cycle after cycle 3, but none has begun");
  rig.at(70).ftrace(FTrace_EVT_task_begin_cycle, 1).flush();
  EXPECT_EQ(rig.faults(), 2u);
  EXPECT_EQ(rig.threads.timeline(1, 460),
            (Timeline{{10, 1}, {20, 0}, {30, 2}, {40, 3}, {55, 0}, {70, 4}}));
  EXPECT_EQ(rig.threads.timeline(1, 461), (Timeline{{19, 10}, {20, 0}, {54, 15}, {55, 0}}));
  EXPECT_EQ(rig.threads.timeline(1, 465),
            (Timeline{{19, 5}, {20, 0}, {54, 1}, {55, 0}, {59, 1}, {60, 0}}));
  EXPECT_EQ(rig.threads.timeline(0, 460), Timeline());
}

TEST(CycleModel, AnEndWithoutAStartMayBeOfAnEarlierCycle) {
  ReplayRig rig;
  rig.at(10).ftrace(FTrace_EVT_task_end_cycle, 0).at(20).ftrace(FTrace_EVT_task_begin_cycle, 0);
  rig.at(30).ftrace(FTrace_EVT_task_end_cycle, 0).at(40).ftrace(FTrace_EVT_task_begin_cycle, 0);
  rig.at(50).ftrace(FTrace_EVT_blackout_start, kNone).ftrace(FTrace_EVT_task_end_cycle, 0);
  rig.at(60).ftrace(FTrace_EVT_task_begin_cycle, 0).flush();
  EXPECT_EQ(rig.faults(), 0u);
  EXPECT_EQ(rig.threads.timeline(0, 460), (Timeline{{20, 2}, {30, 0}, {40, 3}, {50, 0}, {60, 4}}));
}

TEST(CycleModel, OneEndWithoutAStartIsOfAnEarlierCycleAndTwoAreNot) {
  ReplayRig rig;
  rig.at(10).ftrace(FTrace_EVT_task_end_cycle, 0).flush();
  EXPECT_EQ(rig.faults(), 0u);
  rig.at(20).ftrace(FTrace_EVT_task_end_cycle, 0).flush();
  EXPECT_EQ(rig.last_fault(), "t0 (100) ends a cycle after cycle 1, but none has begun");
}

TEST(CycleModel, ALossForgetsTheCyclesOfItsHostOnly) {
  ReplayRig rig(2, 2, builtin_models(), false, 2);
  for (const uint32_t thread : {0, 1})
    rig.at(10).ftrace(FTrace_EVT_task_begin_cycle, thread, thread);
  rig.at(20).ftrace(FTrace_EVT_blackout_start, kNone, 0);
  rig.at(30).ftrace(FTrace_EVT_task_begin_cycle, 0, 0);
  rig.at(40).ftrace(FTrace_EVT_blackout_end, kNone, 0, 1);
  EXPECT_EQ(rig.faults(), 0u);
  rig.at(50).ftrace(FTrace_EVT_task_begin_cycle, 1, 1).flush();
  EXPECT_EQ(rig.last_fault(), "t1 (101) starts a cycle, but cycle 1 has not ended");
  EXPECT_EQ(rig.threads.timeline(0, 460), (Timeline{{10, 1}, {20, 0}, {30, 2}, {40, 0}}));
  EXPECT_EQ(rig.threads.timeline(1, 460), (Timeline{{10, 1}, {50, 2}}));
}

TEST(CycleModel, AThreadThatEndsHasNoCycle) {
  ReplayRig rig;
  rig.at(5).dispatch(1, 1);
  for (const uint32_t thread : {0, 1})
    rig.at(10).ftrace(FTrace_EVT_task_begin_cycle, thread);
  rig.at(20).end(1, 1).at(30).ftrace(FTrace_EVT_task_begin_cycle, 1).flush();
  EXPECT_EQ(rig.faults(), 0u);
  EXPECT_EQ(rig.threads.timeline(1, 460), (Timeline{{10, 1}, {20, 0}, {30, 2}}));
  EXPECT_EQ(rig.threads.timeline(0, 460), (Timeline{{10, 1}}));
}

TEST(FamilyBlackout, HidesNoStates) {
  ReplayRig rig;
  rig.at(1).dispatch(0);
  rig.at(5).ftrace(FTrace_EVT_blackout_start, kNone, 0, 0, kNone, FTRACE_BLACKOUT_FAMILIES);
  EXPECT_EQ(rig.state(0), ThreadState::Running);
  rig.at(9).ftrace(FTrace_EVT_blackout_end, kNone, 0, 3, kNone, FTRACE_BLACKOUT_FAMILIES).flush();
  EXPECT_EQ(rig.cpus.timeline(0, 12), (Timeline{{5, 1}, {9, 0}}));
  EXPECT_EQ(rig.cpus.timeline(0, 10), (Timeline{}));
  EXPECT_EQ(rig.cpus.timeline(0, 11), (Timeline{{8, 3}, {9, 0}}));
}

} // namespace
} // namespace ovnitrace
