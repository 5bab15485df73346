// SPDX-License-Identifier: BSD-2-Clause
// The models kernel, wakeup and user.
#include "emulator/base/palette.h"
#include "tests/unit/support/replay_rig.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace ovnitrace {
namespace {

using test::CollectingRows;
using test::ReplayRig;
using test::Timeline;

constexpr uint32_t off(uint32_t reason, uint32_t tid) {
  return tid | reason << FTRACE_REASON_SHIFT;
}
constexpr uint32_t by(uint32_t context, uint32_t tid) {
  return tid | context << FTRACE_REASON_SHIFT;
}

TEST(KernelModel, ReportsEveryReasonPlusOneUntilTheThreadIsDispatched) {
  for (uint32_t reason : {FTRACE_OFFCPU_YIELDED, FTRACE_OFFCPU_PREEMPTED, FTRACE_OFFCPU_THROTTLED,
                          FTRACE_OFFCPU_EXHAUSTED, FTRACE_OFFCPU_NEXT_PERIOD}) {
    ReplayRig rig;
    rig.at(1).dispatch(0).at(2).epilogue(0, 0, off(reason, 101)).at(3).dispatch(0).flush();
    EXPECT_EQ(rig.threads.timeline(0, 200), (Timeline{{2, reason + 1}, {3, 0}}));
    EXPECT_EQ(rig.threads.timeline(0, 201), (Timeline{{2, 101}, {3, 0}}));
  }
}

TEST(KernelModel, ARefillChangesTheReasonOfAThrottledThreadOnly) {
  for (const bool throttled : {true, false}) {
    const uint32_t reason = throttled ? FTRACE_OFFCPU_THROTTLED : FTRACE_OFFCPU_PREEMPTED;
    ReplayRig rig;
    rig.at(1).dispatch(0).at(2).epilogue(0, 0, off(reason, 101));
    rig.at(3).ftrace(FTrace_EXT_refill, 0).at(4).dispatch(0).flush();
    const Timeline refilled = {{2, reason + 1}, {3, FTRACE_OFFCPU_REFILLED + 1}, {4, 0}};
    const Timeline as_before = {{2, reason + 1}, {4, 0}};
    EXPECT_EQ(rig.threads.timeline(0, 200), throttled ? refilled : as_before);
  }
}

TEST(KernelModel, ReportsWhyAThreadSleepsUntilItIsWoken) {
  for (uint32_t reason :
       {FTRACE_OFFCPU_SLEEP, FTRACE_OFFCPU_DISK, FTRACE_OFFCPU_STOPPED, FTRACE_OFFCPU_TRACED,
        FTRACE_OFFCPU_PARKED, FTRACE_OFFCPU_IDLE, FTRACE_OFFCPU_FROZEN}) {
    ReplayRig rig;
    rig.at(1).dispatch(0).at(2).sleep(0, 0, off(reason, 0)).at(3).activate(0).flush();
    EXPECT_EQ(rig.threads.timeline(0, 200), (Timeline{{2, reason + 1}, {3, 0}}));
  }
}

TEST(KernelModel, KeepsTheReasonOfAPreemptedThreadThatIsWokenForNothing) {
  ReplayRig rig;
  rig.at(1).dispatch(0).at(2).epilogue(0, 0, off(FTRACE_OFFCPU_PREEMPTED, 101));
  rig.at(3).activate(0).flush();
  EXPECT_EQ(rig.threads.timeline(0, 200), (Timeline{{2, 2}}));
}

TEST(KernelModel, TheSnapshotShowsTheReason) {
  ReplayRig rig;
  rig.at(1).ftrace(FTrace_EXT_snapshot, 0, 0, off(FTRACE_OFFCPU_DISK, 2)).flush();
  EXPECT_EQ(rig.threads.timeline(0, 200), (Timeline{{1, FTRACE_OFFCPU_DISK + 1}}));
}

TEST(KernelModel, AThreadThatTheSnapshotFindsWaitingHasAReasonUntilItRuns) {
  for (const uint32_t reason : {0u, uint32_t(FTRACE_OFFCPU_WAITED)}) { // 0: of older versions
    ReplayRig rig;
    rig.at(1).ftrace(FTrace_EXT_snapshot, 0, 0, off(reason, uint32_t(ThreadState::Warming)));
    rig.at(2).dispatch(0).flush();
    EXPECT_EQ(rig.threads.timeline(0, 200), (Timeline{{1, FTRACE_OFFCPU_WAITED + 1}, {2, 0}}));
  }
}

TEST(KernelModel, AStateThatIsRecordedHasItsReason) {
  ReplayRig rig;
  rig.at(1).ftrace(FTrace_EXT_state, 0, 0, off(FTRACE_OFFCPU_DISK, 2)).flush();
  EXPECT_EQ(rig.threads.timeline(0, 200), (Timeline{{1, FTRACE_OFFCPU_DISK + 1}}));
}

TEST(KernelModel, ThePriorityBelongsToTheRunningThread) {
  ReplayRig rig;
  rig.at(1).dispatch(0, 0, 121).at(2).sleep(0).dispatch(1, 0, 100).at(3).sleep(1).flush();
  EXPECT_EQ(rig.threads.timeline(0, 202), (Timeline{{1, 121}, {2, 0}}));
  EXPECT_EQ(rig.cpus.timeline(0, 202), (Timeline{{1, 121}, {2, 100}, {3, 0}}));
}

TEST(KernelModel, AReasonThatIsAlsoAStateHasItsColour) {
  const std::pair<uint32_t, Color> colours[] = {{FTRACE_OFFCPU_PREEMPTED, palette::kPreempted},
                                                {FTRACE_OFFCPU_SLEEP, palette::kBlocked},
                                                {FTRACE_OFFCPU_THROTTLED, palette::kThrottled},
                                                {FTRACE_OFFCPU_WAITED, palette::kWoken},
                                                {FTRACE_OFFCPU_IDLE, palette::kGone}};
  const std::vector<ValueColor> given = kernel_model().channels[0].colors;
  for (const auto &[reason, colour] : colours) {
    const auto at = std::find_if(
        given.begin(), given.end(),
        [shown = int64_t(reason) + 1](const ValueColor &value) { return value.value == shown; });
    ASSERT_NE(at, given.end()) << reason;
    EXPECT_TRUE(at->color == colour) << reason;
  }
  EXPECT_EQ(given.size(), kernel_model().channels[0].values.size());
}

TEST(WakeupModel, TheLatencyIsFromTheWakeupToTheCpu) {
  ReplayRig rig;
  rig.at(1).dispatch(0).at(2).sleep(0).at(100).activate(0).at(175).dispatch(0).at(200).sleep(0);
  rig.flush();
  EXPECT_EQ(rig.threads.timeline(0, 222), (Timeline{{175, 75}, {200, 0}}));
  EXPECT_EQ(rig.cpus.timeline(0, 222), (Timeline{{175, 75}, {200, 0}}));
}

TEST(WakeupModel, AResumedThreadThatWasNotWokenHasNoLatency) {
  ReplayRig rig;
  rig.at(1).activate(0).at(5).dispatch(0).at(6).epilogue(0).at(9).dispatch(0).flush();
  EXPECT_EQ(rig.threads.timeline(0, 222), (Timeline{{5, 4}, {6, 0}}));
}

TEST(WakeupModel, OnlyAKnownThreadInTaskContextDrawsAnArrow) {
  ReplayRig rig(3);
  rig.at(1).dispatch(0);
  rig.at(2).activate(1, 0, by(FTRACE_WAKER_TASK, 100), 0).flush();
  EXPECT_EQ(rig.threads.arrows, (std::vector<CollectingRows::Drawn>{{2, 0, 1, 0}}));
  rig.at(3).activate(2, 0, by(FTRACE_WAKER_HARDIRQ, 100), 0).flush();
  EXPECT_EQ(rig.threads.arrows.size(), 1u) << "an interrupt woke it";
  EXPECT_EQ(rig.threads.values(2, 221), (std::vector<int64_t>{FTRACE_WAKER_HARDIRQ + 1}));
  EXPECT_TRUE(rig.threads.timeline(2, 220).empty()) << "thread 100 only ran";
  ReplayRig unknown;
  unknown.at(2).activate(1, 0, by(FTRACE_WAKER_TASK, 4711), kNone).flush();
  EXPECT_TRUE(unknown.threads.arrows.empty());
  EXPECT_EQ(unknown.threads.values(1, 220), (std::vector<int64_t>{4711}));
}

TEST(WakeupModel, AWakeupThatIsNoTransitionChangesNothing) {
  ReplayRig rig;
  rig.at(1).dispatch(0).dispatch(1, 1);
  const uint32_t held = FTRACE_OFFCPU_EXHAUSTED << FTRACE_WAKEUP_HELD_SHIFT;
  rig.at(2).activate(1, 0, by(FTRACE_WAKER_TASK, 100), 0);
  rig.at(3).activate(1, 0, by(FTRACE_WAKER_TASK, 100) | held, 0).flush();
  EXPECT_TRUE(rig.threads.arrows.empty());
  EXPECT_TRUE(rig.threads.timeline(1, 220).empty());
}

TEST(WakeupModel, AThreadThatIsWokenWithoutBudgetHasAWakerAndNoLatency) {
  ReplayRig rig;
  rig.at(1).dispatch(0);
  const uint32_t held = FTRACE_OFFCPU_EXHAUSTED << FTRACE_WAKEUP_HELD_SHIFT;
  rig.at(2).activate(1, 0, by(FTRACE_WAKER_TASK, 100) | held, 0);
  rig.at(5).sleep(0).dispatch(1).flush();
  EXPECT_EQ(rig.threads.arrows, (std::vector<CollectingRows::Drawn>{{2, 0, 1, 0}}));
  EXPECT_EQ(rig.threads.timeline(1, 220), (Timeline{{2, 100}, {5, 0}}));
  EXPECT_TRUE(rig.threads.timeline(1, 222).empty());
  EXPECT_EQ(rig.threads.timeline(1, 200), (Timeline{{2, FTRACE_OFFCPU_EXHAUSTED + 1}, {5, 0}}));
}

TEST(UserModel, EachUserEventSetsItsChannelToParameter2) {
  for (uint32_t n = 0; n < 15; n++) {
    ReplayRig rig;
    rig.at(1).dispatch(0);
    if (n == 14)
      rig.at(2).user(13, 0, 7);
    rig.at(3).user(n, 0, 7).flush();
    EXPECT_EQ(rig.threads.timeline(0, 300 + n), (Timeline{{3, 7}})) << n;
    EXPECT_EQ(rig.cpus.timeline(0, 300 + n), (Timeline{{3, 7}})) << n;
    EXPECT_EQ(rig.faults(), 0u);
  }
}

TEST(UserModel, SectionsArePushedByEvent13AndPoppedByEvent14) {
  ReplayRig rig;
  rig.at(1).dispatch(0).at(2).user(13, 0, 5).at(3).user(13, 0, 6).at(4).user(14, 0, 6).flush();
  EXPECT_EQ(rig.threads.timeline(0, 316), (Timeline{{2, 5}, {3, 6}, {4, 5}}));
  rig.at(5).user(14, 0, 8);
  EXPECT_EQ(rig.last_fault(), "cannot pop from channel 'section' of t0 (100): expected 8, found 5");
  rig.at(6).user(14, 0, 5).at(7).user(14, 0, 5);
  EXPECT_EQ(rig.last_fault(),
            "cannot pop 5 from channel 'section' of t0 (100): its stack is empty");
  EXPECT_EQ(rig.sink.reported.back().time, 7u);
}

TEST(UserModel, NoSectionIsKnownAfterALossOnAnyCpu) {
  ReplayRig rig;
  rig.at(1).dispatch(0).at(2).user(13, 0, 5).at(3).user(13, 0, 6);
  rig.at(4).ftrace(FTrace_EVT_blackout_start, kNone, 1, 0, kNone, FTRACE_BLACKOUT_FAMILIES);
  rig.at(5).user(13, 0, 7);
  rig.at(6).ftrace(FTrace_EVT_blackout_end, kNone, 1, 2, kNone, FTRACE_BLACKOUT_FAMILIES);
  rig.at(7).user(14, 0, 6).at(8).user(13, 0, 8).at(9).user(14, 0, 5).at(10).user(14, 0, 8).flush();
  EXPECT_EQ(rig.threads.timeline(0, 316),
            (Timeline{{2, 5}, {3, 6}, {4, 0}, {5, 7}, {6, 0}, {8, 8}, {10, 0}}));
  rig.replay.report_end(0);
  EXPECT_EQ(rig.faults(), 0u) << "the ends of sections 6 and 5 are no fault";
  rig.at(11).user(13, 0, 1).at(12).user(13, 0, 2).at(13).user(14, 0, 1).flush();
  EXPECT_EQ(rig.faults(), 1u) << "section 2 has no end";
}

TEST(UserModel, ASectionMayHaveBegunBeforeTheCapture) {
  ReplayRig rig;
  rig.at(1)
      .ftrace(FTrace_EXT_snapshot, 0, 0, 1)
      .at(2)
      .user(14, 0, 5)
      .at(3)
      .user(13, 0, 6)
      .at(4)
      .user(14, 0, 6)
      .flush();
  EXPECT_EQ(rig.threads.timeline(0, 316), (Timeline{{3, 6}, {4, 0}}));
  EXPECT_EQ(rig.faults(), 0u);
}

TEST(UserModel, NoSectionGoesOnAfterTheEndOfItsThread) {
  ReplayRig rig;
  rig.at(1).dispatch(0).dispatch(1, 1).at(2).user(13, 0, 5).user(13, 0, 6).user(13, 1, 7);
  rig.at(3).end(0).flush();
  EXPECT_EQ(rig.threads.timeline(0, 316), (Timeline{{2, 6}, {3, 0}}));
  EXPECT_EQ(rig.threads.timeline(1, 316), (Timeline{{2, 7}}));
}

TEST(UserModel, AnIpointIsPunctual) {
  ReplayRig rig;
  rig.at(1).dispatch(0).at(50).ftrace(FTrace_EVT_ipoint, kNone, 0, 0, kNone, 4).flush();
  EXPECT_EQ(rig.threads.timeline(0, 315), (Timeline{{49, 5}, {50, 0}}));
}

TEST(UserModel, AnEventBelongsToTheThreadThatRunsWhereItWasLogged) {
  ReplayRig rig;
  rig.at(1).dispatch(0, 0).dispatch(1, 1);
  rig.at(2).ftrace(FTrace_EVT_user_event_0, kNone, 1, 9).flush();
  EXPECT_EQ(rig.threads.timeline(1, 300), (Timeline{{2, 9}}));
  rig.at(3).sleep(1, 1).at(4).ftrace(FTrace_EVT_user_event_0, kNone, 1, 9);
  EXPECT_EQ(rig.faults(), 1u) << "nobody runs there";
}

TEST(Replay, RunsPostHooksOnceAfterEachInstant) {
  Model model{"m", "", {{.name = "c", .label = "C", .thread_type = 900}}};
  model.start = [](ModelContext &ctx) { ctx.keep(int64_t(0)); };
  model.events = {{FTrace_EVT_ipoint,
                   [](ModelContext &ctx, const Event &) { ctx.set(0, 0, 10 + ctx.own<int64_t>()); },
                   "", false}};
  model.post = [](ModelContext &ctx) { ctx.own<int64_t>()++; };
  ReplayRig rig(1, 1, {model});
  rig.at(1).ftrace(FTrace_EVT_ipoint, kNone).ftrace(FTrace_EVT_ipoint, kNone);
  rig.at(5).ftrace(FTrace_EVT_ipoint, kNone).flush();
  EXPECT_EQ(rig.threads.timeline(0, 900), (Timeline{{1, 11}, {5, 12}})) << "0 is an instant too";
}

TEST(Replay, StatesLeftOnAStackAreReportedAtTheEnd) {
  ReplayRig rig;
  rig.at(1).dispatch(0).at(2).user(13, 0, 5).flush();
  rig.replay.report_end(0);
  EXPECT_EQ(rig.last_fault(),
            "channel 'section' of t0 (100) ends with 1 state on its stack, 5 on top");
}

TEST(Replay, EventsThatNoModelTakesAreCounted) {
  constexpr uint32_t kFree = 0xED; // no event has this code
  ReplayRig rig;
  rig.at(1).ovni("VTx", 0).ovni("VTx", 0).ftrace(kFree, 0);
  EXPECT_EQ(rig.replay.untaken(),
            (std::map<uint32_t, uint64_t>{{mcv('V', 'T', 'x'), 2}, {kFree, 1}}));
}

TEST(Replay, KindsThatNoModelTakesDoNotFillTheMemory) {
  ReplayRig rig;
  for (uint32_t n = 0; n < 100000; n++) {
    char name[] = {char(1 + n / 10000), char(1 + n / 100 % 100), char(1 + n % 100), 0};
    rig.ovni(name, 0);
  }
  EXPECT_LE(rig.replay.untaken().size(), Replay::kMaxUntakenKinds + 1);
}

TEST(Replay, ReportsFaultsUpToItsLimitAndCountsAll) {
  ReplayRig rig;
  test::CollectingSink sink;
  Replay limited(rig.replay.system().catalog(), builtin_models(), {}, sink, 20);
  Event event;
  event.kind = FTrace_EVT_task_sleep;
  event.thread = 0;
  event.cpu = 0;
  for (int i = 0; i < 100; i++)
    limited.handle(event);
  EXPECT_EQ(limited.faults().count(), 99u) << "the first is learned";
  EXPECT_EQ(sink.reported.size(), 20u);
}

TEST(Replay, StatesThatAreTooManyOrWrongAreReported) {
  ReplayRig rig;
  rig.at(1).dispatch(0);
  for (uint32_t n = 1; n <= 512; n++)
    rig.user(13, 0, n);
  EXPECT_EQ(rig.faults(), 0u);
  rig.user(13, 0, 513);
  EXPECT_EQ(rig.last_fault(),
            "cannot push 513 to channel 'section' of t0 (100): its stack has 512 states already");
  rig.user(14, 0, 513).user(14, 0, 7);
  EXPECT_EQ(rig.last_fault(),
            "cannot pop from channel 'section' of t0 (100): expected 7, found 512");
  rig.user(14, 1, 7);
  EXPECT_EQ(rig.last_fault(),
            "cannot pop 7 from channel 'section' of t1 (101): its stack is empty");
  EXPECT_EQ(rig.faults(), 3u);
  rig.user(13, 0, 8).user(13, 0, 9);
  rig.replay.report_end(0);
  EXPECT_EQ(rig.last_fault(),
            "channel 'section' of t0 (100) ends with 8 states on its stack, 9 on top");
}

} // namespace
} // namespace ovnitrace
