// SPDX-License-Identifier: BSD-2-Clause
// The models of priorities, mutexes, timers and servers.
#include "tests/unit/support/replay_rig.h"

#include <gtest/gtest.h>

namespace ovnitrace {
namespace {

using test::ReplayRig;
using test::Timeline;

constexpr uint32_t priority(uint32_t value, uint32_t policy) {
  return (value + FTRACE_PRIO_BIAS) | (policy + 1) << FTRACE_POLICY_SHIFT;
}

TEST(PriorityModel, ShowsWhatIsSetAndFromThenOnThePolicy) {
  ReplayRig rig;
  rig.at(10).ftrace(FTrace_EVT_set_priority, 1, 0, priority(89, 1)).flush();
  EXPECT_EQ(rig.threads.timeline(1, 420), (Timeline{{9, 91}, {10, 0}}));
  EXPECT_EQ(rig.threads.timeline(1, 421), (Timeline{{10, 2}}));
  EXPECT_EQ(rig.threads.timeline(0, 421), (Timeline{}));
}

TEST(PriorityModel, ThePriorityOfAThreadThatRunsChangesAtOnce) {
  ReplayRig rig;
  rig.at(1).dispatch(0, 0, 122);
  rig.at(10).ftrace(FTrace_EVT_set_priority, 0, 1, priority(139, 0));
  rig.at(20).sleep(0).flush();
  EXPECT_EQ(rig.threads.timeline(0, 202), (Timeline{{1, 122}, {10, 141}, {20, 0}}));
  EXPECT_EQ(rig.cpus.timeline(0, 202), (Timeline{{1, 122}, {10, 141}, {20, 0}}));
}

TEST(PriorityModel, ShowsOnlyTheEventWithoutParameters) {
  ReplayRig rig;
  rig.at(1).dispatch(0, 0, 122).at(10).ftrace(FTrace_EVT_set_priority, 0).flush();
  EXPECT_EQ(rig.threads.timeline(0, 420), (Timeline{{9, 255}, {10, 0}}));
  EXPECT_EQ(rig.threads.timeline(0, 202), (Timeline{{1, 122}}));
  EXPECT_EQ(rig.threads.timeline(0, 421), (Timeline{}));
}

TEST(PriorityModel, ThreadRunsForAnotherUntilInheritanceEnds) {
  ReplayRig rig;
  rig.at(1).dispatch(0);
  rig.at(10).ftrace(FTrace_EVT_inheritance, 0, 0, 2, 1);
  rig.at(20).ftrace(FTrace_EVT_inheritance, 0, 0, 1, 0).flush();
  EXPECT_EQ(rig.threads.timeline(0, 464), (Timeline{{10, 101}, {20, 0}}));
}

TEST(MutexModel, AWaitLastsUntilItsEnd) {
  ReplayRig rig;
  rig.at(10).ftrace(FTrace_EVT_mutex_wait, 1, 0, 0xfffffffc);
  rig.at(20).ftrace(FTrace_EVT_mutex_post, 0, 0, 0xfffffffc);
  rig.at(30).ftrace(FTrace_EVT_mutex_lock, 1, 1, 0xfffffffc | FTRACE_FUTEX_PLAIN).flush();
  EXPECT_EQ(rig.threads.timeline(1, 430), (Timeline{{10, 0xfffffffd}, {30, 0}}));
  EXPECT_EQ(rig.threads.timeline(1, 431), (Timeline{{29, 6}, {30, 0}}));
  EXPECT_EQ(rig.threads.timeline(1, 432), (Timeline{{29, 0xfffffffd}, {30, 0}}));
  EXPECT_EQ(rig.threads.timeline(0, 431), (Timeline{{19, 4}, {20, 0}}));
  EXPECT_EQ(rig.threads.timeline(0, 430), (Timeline{}));
}

TEST(MutexModel, ReportsHowAWaitEnds) {
  ReplayRig rig;
  rig.at(10).ftrace(FTrace_EVT_mutex_wait, 0, 0, 64);
  rig.at(20).ftrace(FTrace_EVT_mutex_lock, 0, 0, 64 | FTRACE_FUTEX_PLAIN | FTRACE_FUTEX_GAVE_UP);
  rig.at(30).ftrace(FTrace_EVT_mutex_wait, 0, 0, 64);
  rig.at(40).ftrace(FTrace_EVT_mutex_lock, 0, 0, 64);
  rig.at(50).ftrace(FTrace_EVT_mutex_unlock, 0, 0, 64).flush();
  EXPECT_EQ(rig.threads.timeline(0, 431),
            (Timeline{{19, 7}, {20, 0}, {39, 2}, {40, 0}, {49, 3}, {50, 0}}));
  EXPECT_EQ(rig.threads.timeline(0, 430), (Timeline{{10, 65}, {20, 0}, {30, 65}, {40, 0}}));
}

TEST(MutexModel, ALockIsOfTheMutexThatItNames) {
  ReplayRig rig;
  rig.at(10).ftrace(FTrace_EVT_mutex_wait, 0, 0, 100);
  rig.at(20).ftrace(FTrace_EVT_mutex_lock, 0, 0, 64).flush();
  EXPECT_EQ(rig.threads.timeline(0, 432), (Timeline{{19, 65}, {20, 0}}));
}

TEST(MutexModel, EveryMutexLockOfSharkLocksTheMutexOfItsNumber) {
  ReplayRig rig;
  for (uint32_t mutex = 0; mutex < 9; mutex++)
    rig.at(10 * mutex + 10).manual(FTrace_EVT_mutex_lock, 0, mutex).flush();
  Timeline does, mutexes;
  for (int mutex = 0; mutex < 9; mutex++)
    for (Timeline *timeline : {&does, &mutexes}) {
      timeline->push_back({10 * mutex + 9, timeline == &does ? 2 : mutex + 1});
      timeline->push_back({10 * mutex + 10, 0});
    }
  EXPECT_EQ(rig.threads.timeline(0, 431), does);
  EXPECT_EQ(rig.threads.timeline(0, 432), mutexes);
}

TEST(MutexModel, CreateAndInheritNameNoMutex) {
  ReplayRig rig;
  rig.at(10).manual(FTrace_EVT_mutex_create, 0).at(20).manual(FTrace_EVT_mutex_inherit, 0).flush();
  EXPECT_EQ(rig.threads.timeline(0, 431), (Timeline{{9, 1}, {10, 0}, {19, 5}, {20, 0}}));
  EXPECT_EQ(rig.threads.timeline(0, 432), (Timeline{}));
}

TEST(MutexModel, NobodyIsKnownToWaitAfterABlackoutBeganOrAnEnd) {
  ReplayRig rig;
  rig.at(10).ftrace(FTrace_EVT_mutex_wait, 0, 0, 64).ftrace(FTrace_EVT_mutex_wait, 1, 1, 64);
  rig.at(20).end(0).at(30);
  rig.ftrace(FTrace_EVT_blackout_start, kNone, 0, 0, kNone, FTRACE_BLACKOUT_FAMILIES).flush();
  EXPECT_EQ(rig.threads.timeline(0, 430), (Timeline{{10, 65}, {20, 0}}));
  EXPECT_EQ(rig.threads.timeline(1, 430), (Timeline{{10, 65}, {30, 0}}));
}

// The end of a wait that began while another CPU lost events may be among the lost ones.
TEST(MutexModel, NobodyIsKnownToWaitWhenABlackoutEnds) {
  ReplayRig rig;
  rig.at(10).ftrace(FTrace_EVT_blackout_start, kNone, 0, 0, kNone, FTRACE_BLACKOUT_FAMILIES);
  rig.at(20).ftrace(FTrace_EVT_mutex_wait, 0, 1, 64);
  rig.at(30).ftrace(FTrace_EVT_blackout_end, kNone, 0, 1, kNone, FTRACE_BLACKOUT_FAMILIES).flush();
  EXPECT_EQ(rig.threads.timeline(0, 430), (Timeline{{20, 65}, {30, 0}}));
}

constexpr uint32_t timer(uint32_t kind, uint32_t much = 0) {
  return kind | much << FTRACE_TIMER_SHIFT;
}

TEST(TimerModel, ShowsWhoArmsItAndHowLateItIs) {
  ReplayRig rig;
  rig.at(10).ftrace(FTrace_EVT_timer_post, 1, 0, timer(FTRACE_TIMER_SLEEP, 5));
  rig.at(20).ftrace(FTrace_EVT_timer_wakeup_start, 1, 1, timer(FTRACE_TIMER_SLEEP, 300));
  rig.at(24).ftrace(FTrace_EVT_timer_wakeup_end, 1, 1, timer(FTRACE_TIMER_SLEEP));
  rig.at(30).ftrace(FTrace_EVT_timer_delete, 1, 0, timer(FTRACE_TIMER_POSIX)).flush();
  EXPECT_EQ(rig.threads.timeline(1, 440), (Timeline{{9, 2}, {10, 0}}));
  EXPECT_EQ(rig.threads.timeline(1, 442), (Timeline{{19, 2}, {20, 0}}));
  EXPECT_EQ(rig.threads.timeline(1, 443), (Timeline{{19, 300}, {20, 0}}));
  EXPECT_EQ(rig.threads.timeline(1, 441), (Timeline{{29, 4}, {30, 0}}));
  EXPECT_EQ(rig.cpus.timeline(1, 444), (Timeline{{20, 2}, {24, 0}}));
  EXPECT_EQ(rig.cpus.timeline(0, 444), (Timeline{}));
}

TEST(TimerModel, ABlackoutEndsWhatIsHandledOnItsCpu) {
  ReplayRig rig;
  rig.at(20).ftrace(FTrace_EVT_timer_wakeup_start, 0, 0, timer(FTRACE_TIMER_TIMERFD));
  rig.at(20).ftrace(FTrace_EVT_timer_wakeup_start, 0, 1, timer(FTRACE_TIMER_TIMERFD));
  rig.at(30).ftrace(FTrace_EVT_blackout_start, kNone, 0).flush();
  EXPECT_EQ(rig.cpus.timeline(0, 444), (Timeline{{20, 5}, {30, 0}}));
  EXPECT_EQ(rig.cpus.timeline(1, 444), (Timeline{{20, 5}}));
}

TEST(TimerModel, HandlerThatBeganInABlackoutIsNotKnownAfterIt) {
  ReplayRig rig;
  rig.at(10).ftrace(FTrace_EVT_blackout_start, kNone, 0, 0, kNone, FTRACE_BLACKOUT_FAMILIES);
  rig.at(20).ftrace(FTrace_EVT_timer_wakeup_start, 0, 0, timer(FTRACE_TIMER_TIMERFD));
  rig.at(30).ftrace(FTrace_EVT_blackout_end, kNone, 0, 1, kNone, FTRACE_BLACKOUT_FAMILIES).flush();
  EXPECT_EQ(rig.cpus.timeline(0, 444), (Timeline{{20, 5}, {30, 0}}));
}

TEST(ServerModel, FollowsTheBudget) {
  ReplayRig rig;
  rig.at(5).dispatch(0).ftrace(FTrace_EVT_server_create, 0, 0, 5000);
  rig.at(10).ftrace(FTrace_EVT_server_exhaust, 0, 0, 7);
  rig.at(20).ftrace(FTrace_EVT_server_replenish, 0, 1);
  rig.at(25).ftrace(FTrace_EVT_server_active, 0, 0, 4993);
  rig.at(30).ftrace(FTrace_EVT_server_exhaust, 0, 0, FTRACE_SERVER_YIELDED | 100);
  rig.at(40).ftrace(FTrace_EVT_server_replenish, 0, 0);
  rig.at(50).ftrace(FTrace_EVT_server_remove, 0, 0).flush();
  EXPECT_EQ(rig.threads.timeline(0, 450),
            (Timeline{{5, 1}, {10, 2}, {20, 1}, {30, 3}, {40, 1}, {50, 0}}));
  EXPECT_EQ(rig.threads.timeline(0, 451), (Timeline{{25, 4993}, {30, 0}}));
  EXPECT_EQ(rig.threads.timeline(0, 452), (Timeline{{9, 7}, {10, 0}}));
  EXPECT_EQ(rig.cpus.timeline(0, 450), rig.threads.timeline(0, 450));
  EXPECT_EQ(rig.cpus.timeline(0, 453), (Timeline{}));
}

TEST(ServerModel, ServersWithoutAThreadAreShownOnTheCpu) {
  ReplayRig rig;
  rig.at(10).ftrace(FTrace_EVT_server_replenish, kNone, 0, 0xffffffff).flush();
  EXPECT_EQ(rig.cpus.timeline(0, 453), (Timeline{{9, 2}, {10, 0}}));
  EXPECT_EQ(rig.cpus.timeline(0, 454), (Timeline{{9, 0x100000000}, {10, 0}}));
}

TEST(ServerModel, NoBudgetIsKnownAfterABlackoutBegan) {
  ReplayRig rig;
  rig.at(5).dispatch(0).ftrace(FTrace_EVT_server_active, 0, 0, 5000);
  rig.at(10).ftrace(FTrace_EVT_blackout_start, kNone, 0, 0, kNone, FTRACE_BLACKOUT_FAMILIES);
  rig.flush();
  EXPECT_EQ(rig.threads.timeline(0, 450), (Timeline{{5, 1}, {10, 0}}));
  EXPECT_EQ(rig.threads.timeline(0, 451), (Timeline{{5, 5000}, {10, 0}}));
}

TEST(ServerModel, NoBudgetIsKnownWhenABlackoutEnds) {
  ReplayRig rig;
  rig.at(5).dispatch(0);
  rig.at(10).ftrace(FTrace_EVT_blackout_start, kNone, 1, 0, kNone, FTRACE_BLACKOUT_FAMILIES);
  rig.at(20).ftrace(FTrace_EVT_server_active, 0, 0, 5000);
  rig.at(30).ftrace(FTrace_EVT_blackout_end, kNone, 1, 1, kNone, FTRACE_BLACKOUT_FAMILIES).flush();
  EXPECT_EQ(rig.threads.timeline(0, 450), (Timeline{{20, 1}, {30, 0}}));
}

} // namespace
} // namespace ovnitrace
