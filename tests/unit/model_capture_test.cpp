// SPDX-License-Identifier: BSD-2-Clause
// What programs do to a capture: the model capture's type 13, and filters.
#include "tests/unit/support/replay_rig.h"

#include <gtest/gtest.h>

namespace ovnitrace {
namespace {

using test::ReplayRig;
using test::Timeline;

TEST(CaptureModel, AProcessThatIsDisabledShowsSoOnAllItsThreads) {
  ReplayRig rig;
  rig.at(1).dispatch(0);
  rig.at(5).ftrace(FTrace_EXT_disable, 0).at(9).ftrace(FTrace_EXT_enable, 1).flush();
  const Timeline expected = {{5, 2}, {9, 1}};
  EXPECT_EQ(rig.threads.timeline(0, 13), expected);
  EXPECT_EQ(rig.threads.timeline(1, 13), expected);
  EXPECT_EQ(rig.cpus.timeline(0, 13), expected) << "a thread of it runs there";
  EXPECT_EQ(rig.cpus.timeline(1, 13), (Timeline{}));
}

TEST(CaptureModel, AnExecutedProgramIsNeitherEnabledNorDisabled) {
  ReplayRig rig;
  rig.at(5).ftrace(FTrace_EXT_disable, 0).at(6).ftrace(FTrace_EXT_exec, 0).flush();
  EXPECT_EQ(rig.threads.timeline(0, 13), (Timeline{{5, 2}, {6, 0}}));
}

TEST(CaptureModel, AnotherProcessWithTheSamePidIsNeitherEnabledNorDisabled) {
  ReplayRig rig;
  rig.at(5).ftrace(FTrace_EXT_disable, 1).at(6).ftrace(FTrace_EVT_task_create, 1).flush();
  EXPECT_EQ(rig.threads.timeline(1, 13), (Timeline{{5, 2}})) << "only one thread more";
  rig.at(7).ftrace(FTrace_EVT_task_create, 0).flush();
  EXPECT_EQ(rig.threads.timeline(1, 13), (Timeline{{5, 2}, {7, 0}}));
}

TEST(CaptureModel, AMarkIsOnAllRowsOfItsHost) {
  ReplayRig rig(4, 4, builtin_models(), false, 2);
  for (const uint32_t t : {0, 1, 2, 3})
    rig.at(1).dispatch(t, t);
  rig.at(3).sleep(2, 2).at(5).ftrace(FTrace_EXT_mark, kNone, 3, 0, kNone, 7).flush();
  const Timeline marked = {{4, 7}, {5, 0}};
  for (const uint32_t row : {0, 1, 2, 3}) {
    EXPECT_EQ(rig.threads.timeline(row, 14), row % 2 ? marked : Timeline()) << row;
    EXPECT_EQ(rig.cpus.timeline(row, 14), row % 2 ? marked : Timeline()) << row;
  }
}

TEST(CaptureModel, AMarkIsOnNoRowOfAThreadThatHasEnded) {
  ReplayRig rig;
  rig.at(1).dispatch(0).dispatch(1, 1).at(2).end(1, 1);
  rig.at(9).ftrace(FTrace_EXT_mark, kNone, 0, 0, kNone, 3).flush();
  EXPECT_EQ(rig.threads.timeline(0, 14), (Timeline{{8, 3}, {9, 0}}));
  EXPECT_EQ(rig.threads.timeline(1, 14), Timeline());
  for (uint32_t cpu : {0, 1})
    EXPECT_EQ(rig.cpus.timeline(cpu, 14), (Timeline{{8, 3}, {9, 0}})) << cpu;
}

TEST(CaptureModel, APauseIsABlackoutOfItsOwn) {
  ReplayRig rig;
  rig.at(5).ftrace(FTrace_EVT_blackout_start, kNone, 1, 0, kNone, FTRACE_BLACKOUT_PAUSED);
  rig.at(9).ftrace(FTrace_EVT_blackout_end, kNone, 1, 0, kNone, FTRACE_BLACKOUT_PAUSED).flush();
  EXPECT_EQ(rig.cpus.timeline(1, 10), (Timeline{{5, 2}, {9, 0}}));
  EXPECT_EQ(rig.cpus.timeline(1, 11), Timeline()) << "nothing is lost";
  rig.at(15).ftrace(FTrace_EVT_blackout_start, kNone, 1, 0, kNone, FTRACE_BLACKOUT_MISSING).flush();
  EXPECT_EQ(rig.cpus.timeline(1, 10).back(), (Timeline::value_type{15, 1}));
  rig.at(20).ftrace(FTrace_EVT_blackout_start, kNone, 1, 0, kNone, FTRACE_BLACKOUT_OUTSIDE).flush();
  EXPECT_EQ(rig.cpus.timeline(1, 10).back(), (Timeline::value_type{20, 3}));
}

TEST(ContextSwitchModel, AThreadIsOutOfTheCpuFromKcoToKci) {
  ReplayRig rig(3);
  rig.at(1).ovni("OHx", 2, {0}).at(5).ovni("KCO", 2).at(9).ovni("KCI", 2).flush();
  EXPECT_EQ(rig.faults(), 0u) << rig.last_fault();
  EXPECT_EQ(rig.threads.timeline(2, 45), (Timeline{{5, 3}, {9, 0}}));
  EXPECT_EQ(rig.cpus.timeline(0, 45), (Timeline{{5, 3}, {9, 0}}));
  for (uint32_t other : {0, 1})
    EXPECT_EQ(rig.threads.timeline(other, 45), Timeline()) << other;
  rig.at(11).ovni("OB.", 2);
  EXPECT_EQ(rig.faults(), 0u) << "it is back";
  rig.at(12).ovni("KCO", 2).at(13).ovni("OB.", 2);
  EXPECT_EQ(rig.faults(), 1u);
  EXPECT_EQ(rig.last_fault(), "OB. of t2 (102), which is out of its CPU since KCO");
  rig.at(14).ovni("KCO", 2);
  EXPECT_EQ(rig.faults(), 2u);
  EXPECT_EQ(rig.last_fault(), "KCO: t2 (102) is out of the CPU already");
}

TEST(CpuModeModel, AFilterHoldsOnEveryCpu) {
  ReplayRig rig;
  rig.at(5).ftrace(FTrace_filter_signal, kNone, 1, 0, kNone, 1);
  rig.at(6).ftrace(FTrace_filter_signal, kNone, 0, 0, kNone, 0).flush();
  for (uint32_t cpu : {0, 1})
    EXPECT_EQ(rig.cpus.timeline(cpu, 472), (Timeline{{5, 1 << 7}, {6, 0}})) << cpu;
}

TEST(FilterModel, NoInterruptIsServedOnAnyCpuWhileInterruptsAreFiltered) {
  ReplayRig rig;
  rig.at(5).ftrace(FTrace_EVT_interrupt_start, kNone, 1, 0, 0, 9);
  rig.at(6).ftrace(FTrace_filter_interrupt, kNone, 0, 0, kNone, 1).flush();
  EXPECT_EQ(rig.cpus.timeline(1, 400), (Timeline{{5, 10}, {6, 0}}));
  EXPECT_EQ(rig.threads.timeline(0, 401), (Timeline{{5, 10}, {6, 0}}));
}

TEST(FilterModel, NoThreadIsKnownToWaitForAMutex) {
  ReplayRig rig;
  rig.at(5).ftrace(FTrace_EVT_mutex_wait, 0, 0, 64);
  rig.at(6).ftrace(FTrace_filter_mutex, kNone, 1, 0, kNone, 1).flush();
  EXPECT_EQ(rig.threads.timeline(0, 430), (Timeline{{5, 65}, {6, 0}}));
}

TEST(FilterModel, NoTimerIsKnownToBeHandled) {
  ReplayRig rig;
  rig.at(5).ftrace(FTrace_EVT_timer_wakeup_start, kNone, 1);
  rig.at(6).ftrace(FTrace_filter_timer, kNone, 0, 0, kNone, 1).flush();
  const Timeline shown = rig.cpus.timeline(1, 444);
  ASSERT_EQ(shown.size(), 2u);
  EXPECT_EQ(shown[0].first, 5u);
  EXPECT_EQ(shown[1], (Timeline::value_type{6, 0}));
}

TEST(FilterModel, NoBudgetIsKnown) {
  ReplayRig rig;
  rig.at(1).dispatch(0).at(5).ftrace(FTrace_EVT_server_active, 0, 0, 1000);
  rig.at(6).ftrace(FTrace_filter_server, kNone, 1, 0, kNone, 1).flush();
  for (uint32_t type : {450, 451}) {
    const Timeline shown = rig.threads.timeline(0, type);
    ASSERT_FALSE(shown.empty()) << type;
    EXPECT_EQ(shown.back(), (Timeline::value_type{6, 0})) << type;
  }
}

} // namespace
} // namespace ovnitrace
