// SPDX-License-Identifier: BSD-2-Clause
// What S.Ha.R.K.'s tasks do, from plain FTrace files: emulator/shark/scheduling.h and
// docs/shark.md.
#include "tests/unit/support/shark_rig.h"

namespace ovnitrace::test {
namespace {

// ---- tasks ----

TEST_F(Shark, AnIdMayComeLateOrNever) {
  file.at(0).rate(kNsRate).context_switch(40).at(10).context_switch(48).at(20).id(40, 3);
  const ReadBack back = read();
  EXPECT_EQ(back.rows(), (Texts{"task 3 (40) pid 3", "task ? (48) pid 48"}));
  EXPECT_EQ(back.text(kStates),
            (Texts{"task_dispatch@0/40", "task_epilogue@10/40", "task_dispatch@10/48"}));
}

TEST_F(Shark, AContextGoesToAnotherTask) {
  file.at(0).rate(kNsRate).record(FTrace_EVT_task_create, 40, 3);
  file.at(10).context_switch(40).at(20).record(FTrace_EVT_task_end, 40, 3);
  file.at(30).record(FTrace_EVT_task_create, 40, 3).at(40).context_switch(40);
  file.at(50).record(FTrace_EVT_task_create, 40, 5).at(60).id(40, 5);
  const ReadBack back = read();
  EXPECT_EQ(back.rows(), (Texts{"task 3 (40) pid 3", "task 3 (40) pid 3", "task 5 (40) pid 5"}));
  EXPECT_EQ(back.catalog.threads[1].birth, 30u);
}

TEST_F(Shark, ARepeatedIdNamesTheSameTask) {
  file.at(0).rate(kNsRate).id(40, 3).id(40, 3).record(FTrace_EVT_task_create, 40, 3);
  file.at(5).record(FTrace_EVT_task_end, 40, 3).at(6).record(FTrace_EVT_task_deadline_miss, 40);
  EXPECT_EQ(read().rows(), (Texts{"task 3 (40) pid 3"}));
}

TEST_F(Shark, AFileThatNamesNoContextHasOneRow) {
  file.at(0).rate(kNsRate).record(FTrace_EVT_ipoint, 7).at(9).record(FTrace_EVT_user_event_2, 0, 5);
  EXPECT_EQ(timeline("thread.prv", 1, 302), (Texts{"9 5"}));
  EXPECT_EQ(result.faults, 0u);
}

// ---- scheduling ----

TEST_F(Shark, AContextSwitchTakesTheCpuFromThePreviousTask) {
  file.at(0).record(FTrace_EVT_trace_start, 40, kNsRate).id(40, 1).id(48, 2);
  file.at(10).record(FTrace_EVT_task_activate, 48);
  file.at(20).record(FTrace_EVT_task_schedule, 48, 48).at(25).context_switch(48);
  file.at(30).record(FTrace_EVT_task_end_cycle, 48, 2);
  file.at(31).record(FTrace_EVT_task_schedule, 40, 40).at(35).context_switch(40);
  const ReadBack back = read();
  EXPECT_EQ(back.text(kStates),
            (Texts{"task_dispatch@0/40", "task_activate@10/48", "task_epilogue@25/40",
                   "task_dispatch@25/48", "task_sleep@35/48", "task_dispatch@35/40"}));
  EXPECT_EQ(timeline("thread.prv", 2, 4), (Texts{"10 5", "25 1", "35 2"}));
  EXPECT_EQ(timeline("thread.prv", 1, 4), (Texts{"0 1", "25 4", "35 1"}));
  EXPECT_EQ(timeline("cpu.prv", 1, 2), (Texts{"0 40", "25 48", "35 40"}));
  EXPECT_EQ(timeline("thread.prv", 2, 222), (Texts{"25 15", "35 0"})) << "wakeup latency";
  EXPECT_EQ(timeline("thread.prv", 1, 201), (Texts{"25 48", "35 0"})) << "runs instead";
  EXPECT_EQ(result.faults, 0u);
}

TEST_F(Shark, TheExplicitEventsOfTheManual) {
  file.at(0).rate(kNsRate).id(1, 10).id(2, 11);
  file.at(10).record(FTrace_EVT_task_dispatch, 1);
  file.at(20).record(FTrace_EVT_task_epilogue); // no context: who runs
  file.at(20).record(FTrace_EVT_task_dispatch, 2);
  file.at(30).record(FTrace_EVT_task_sleep);
  file.at(30).record(FTrace_EVT_task_dispatch, 1);
  file.at(35).record(FTrace_EVT_task_activate, 2);
  file.at(40).record(FTrace_EVT_task_end, 1, 10);
  file.at(41).record(FTrace_EVT_task_dispatch, 2).at(50).record(FTrace_EVT_trace_stop);
  EXPECT_EQ(timeline("thread.prv", 1, 4), (Texts{"0 0", "10 1", "20 4", "30 1", "40 3"}));
  EXPECT_EQ(timeline("thread.prv", 2, 4), (Texts{"20 1", "30 2", "35 5", "41 1"}));
  EXPECT_EQ(result.faults, 0u);
}

TEST_F(Shark, ADispatchAfterItsSwitchChangesNothing) {
  file.at(0).rate(kNsRate).context_switch(1);
  file.at(10).record(FTrace_EVT_task_epilogue, 1).at(11).record(FTrace_EVT_task_schedule, 2, 2);
  file.at(12).context_switch(2).at(13).record(FTrace_EVT_task_dispatch);
  EXPECT_EQ(timeline("thread.prv", 2, 4), (Texts{"12 1"}));
  EXPECT_EQ(result.faults, 0u);
}

TEST_F(Shark, TaskScheduleIsTheSwitchWhereNothingElseShowsIt) {
  file.at(0).rate(kNsRate).record(FTrace_EVT_task_schedule, 1, 1);
  file.at(10).record(FTrace_EVT_task_schedule, 2, 2);
  EXPECT_EQ(read().text(kStates),
            (Texts{"task_dispatch@0/1", "task_epilogue@10/1", "task_dispatch@10/2"}));
}

/// As the manual's table has them: task_dispatch, task_epilogue and task_sleep without parameters.
TEST_F(Shark, ADispatchWithoutAContextMeansTheScheduledTask) {
  file.at(0).record(FTrace_EVT_trace_start, 1, kNsRate).id(1, 10).id(2, 20);
  file.at(10).record(FTrace_EVT_task_activate, 2).at(14).record(FTrace_EVT_task_epilogue);
  file.at(15).record(FTrace_EVT_task_schedule, 2, 2).at(16).record(FTrace_EVT_task_dispatch);
  file.at(30).record(FTrace_EVT_task_sleep);
  file.at(31).record(FTrace_EVT_task_schedule, 1, 1).at(32).record(FTrace_EVT_task_dispatch);
  file.at(40).record(FTrace_EVT_task_epilogue);
  file.at(41).record(FTrace_EVT_task_schedule, 1, 1).at(42).record(FTrace_EVT_task_dispatch);
  file.at(50).record(FTrace_EVT_trace_stop);
  EXPECT_TRUE(read().sink.reported.empty());
  EXPECT_EQ(timeline("thread.prv", 1, 4), (Texts{"0 1", "14 4", "32 1", "40 4", "42 1"}));
  EXPECT_EQ(timeline("thread.prv", 2, 4), (Texts{"10 5", "16 1", "30 2"}));
  EXPECT_EQ(result.faults, 0u);
}

TEST_F(Shark, ScheduleAndDispatchAloneShowWhoRuns) {
  file.at(0).rate(kNsRate).id(1, 1).id(2, 2);
  for (uint16_t task : {1, 2, 2, 1}) {
    file.record(FTrace_EVT_task_schedule, task, task).record(FTrace_EVT_task_dispatch);
    file.at(file.ticks() + 10);
  }
  EXPECT_EQ(timeline("cpu.prv", 1, 2), (Texts{"0 1", "10 2", "30 1"}));
  EXPECT_EQ(result.faults, 0u) << "one that goes on is chosen again";
}

TEST_F(Shark, AChosenTaskIsForgottenInABlackout) {
  file.at(0).rate(kNsRate).id(1, 1).id(2, 2).record(FTrace_EVT_task_schedule, 2, 2);
  file.at(5).record(FTrace_EVT_blackout_start).record(FTrace_EVT_blackout_end);
  file.at(9).record(FTrace_EVT_task_dispatch);
  const ReadBack back = read();
  EXPECT_EQ(back.sink.count("task_dispatch names no context"), 1u);
  EXPECT_EQ(back.text(kStates), Texts{});
}

/// Until a blackout it waits on; in one the wait may have ended.
TEST_F(Shark, ATimerWakesATaskWhoseWaitMayHaveEndedInABlackout) {
  for (const bool blackout : {false, true}) {
    file = {};
    file.at(0).rate(kNsRate).id(1, 1).id(2, 2).context_switch(1);
    file.at(10).record(FTrace_EVT_mutex_wait, 1, 7).context_switch(2);
    if (blackout)
      file.at(20).record(FTrace_EVT_blackout_start).record(FTrace_EVT_blackout_end);
    file.at(30).record(FTrace_EVT_task_timer, 1, 0);
    const ReadBack back = read();
    EXPECT_EQ(back.text({FTrace_EVT_task_activate}),
              blackout ? Texts{"task_activate@30/1"} : Texts{});
  }
}

TEST_F(Shark, ABlockedTaskIsPausedWhileItsShadowRuns) {
  file.at(0).rate(kNsRate).id(1, 1).id(2, 2).context_switch(1);
  file.at(10).record(FTrace_EVT_task_schedule, 2, 1).context_switch(2); // 2 runs for 1
  file.at(20).record(FTrace_EVT_task_timer, 1, 0);                      // no reason to go on
  file.at(30).record(FTrace_EVT_task_schedule, 1, 1).context_switch(1);
  EXPECT_EQ(timeline("thread.prv", 1, 4), (Texts{"0 1", "10 2", "30 1"}));
  EXPECT_EQ(timeline("thread.prv", 2, 464), (Texts{"10 1", "30 0"}));
}

TEST_F(Shark, ASemaphoreBlocks) {
  file.at(0).rate(kNsRate).id(1, 1).id(2, 2).context_switch(1);
  file.at(10).record(FTrace_EVT_mutex_wait, 1, 99).at(11).context_switch(2);
  EXPECT_EQ(timeline("thread.prv", 1, 4), (Texts{"0 1", "11 2"}));
}

TEST_F(Shark, AWaitForASemaphoreIsOverWhenTheTaskGetsTheCpu) {
  file.at(0).rate(kNsRate).id(1, 1).id(2, 2).context_switch(1);
  file.at(10).record(FTrace_EVT_mutex_wait, 1, 0).at(11).context_switch(2);
  file.at(20).record(FTrace_EVT_mutex_post, 2, 0).at(30).context_switch(1);
  EXPECT_EQ(timeline("thread.prv", 1, 430), (Texts{"10 1", "30 0"}));
  EXPECT_EQ(timeline("thread.prv", 1, 432), (Texts{"29 1", "30 0"}));
  EXPECT_EQ(timeline("thread.prv", 2, 431), (Texts{"19 4", "20 0"}));
}

TEST_F(Shark, AWaitThatDoesNotBlockIsOverAtOnce) {
  file.at(0).rate(kNsRate).id(1, 1).context_switch(1);
  file.at(10).record(FTrace_EVT_mutex_wait, 1, 3).at(11).context_switch(1);
  EXPECT_EQ(timeline("thread.prv", 1, 430), (Texts{"10 4", "11 0"}));
}

TEST_F(Shark, MutexesTimersAndPrioritiesAreShown) {
  file.at(0).rate(kNsRate).id(1, 1).context_switch(1);
  file.at(10).record(FTrace_EVT_mutex_lock, 1, 0x1000);
  file.at(20).record(FTrace_EVT_mutex_unlock, 1, 0x1000);
  file.at(30).record(FTrace_EVT_timer_post, 0, 77); // not used, says the manual
  file.at(40).record(FTrace_EVT_timer_wakeup_start).at(45).record(FTrace_EVT_timer_wakeup_end, 1);
  file.at(50).record(FTrace_EVT_set_priority, 1, 777);
  EXPECT_EQ(timeline("thread.prv", 1, 431), (Texts{"9 2", "10 0", "19 3", "20 0"}));
  EXPECT_EQ(timeline("thread.prv", 1, 432), (Texts{"9 4097", "10 0", "19 4097", "20 0"}));
  EXPECT_EQ(timeline("thread.prv", 1, 440), (Texts{"29 1", "30 0"}));
  EXPECT_EQ(timeline("cpu.prv", 1, 444), (Texts{"40 1", "45 0"}));
  EXPECT_EQ(timeline("thread.prv", 1, 420), (Texts{"49 255", "50 0"}));
}

TEST_F(Shark, EveryNumberOfAMutexIsShown) {
  file.at(0).rate(kNsRate).id(1, 1).context_switch(1);
  Texts does, mutexes;
  for (int mutex = 0; mutex < 9; mutex++) {
    const int time = 10 * mutex + 10;
    file.at(uint64_t(time)).record(FTrace_EVT_mutex_lock, 1, uint32_t(mutex));
    does.push_back(fmt::format("{} 2", time - 1));
    mutexes.push_back(fmt::format("{} {}", time - 1, mutex + 1));
    for (Texts *texts : {&does, &mutexes})
      texts->push_back(fmt::format("{} 0", time));
  }
  EXPECT_EQ(timeline("thread.prv", 1, 431), does);
  EXPECT_EQ(timeline("thread.prv", 1, 432), mutexes);
}

TEST_F(Shark, ThreadThatGotTheMutexHasWaited) {
  file.at(0).rate(kNsRate).id(1, 1).context_switch(1);
  file.at(10).record(FTrace_EVT_mutex_wait, 1, 3).at(11).record(FTrace_EVT_mutex_lock, 1, 3);
  file.at(20).context_switch(2).at(30).context_switch(1);
  EXPECT_EQ(timeline("thread.prv", 1, 430), (Texts{"10 4", "11 0"}));
  EXPECT_EQ(timeline("thread.prv", 1, 431), (Texts{"10 2", "11 0"}));
  EXPECT_EQ(timeline("thread.prv", 1, 4), (Texts{"0 1", "20 4", "30 1"})) << "it was preempted";
}

TEST_F(Shark, WaitThatMayHaveEndedUnseenHasNoEnd) {
  for (uint16_t hides : {FTrace_filter_mutex, FTrace_filter_task}) {
    file = {};
    file.at(0).rate(kNsRate).id(1, 1).context_switch(1);
    file.at(10).record(FTrace_EVT_mutex_wait, 1, 3).at(20).record(hides, 1).at(30);
    file.record(hides, 0).at(40).context_switch(1).at(50).record(FTrace_EVT_trace_stop);
    EXPECT_EQ(timeline("thread.prv", 1, 430), (Texts{"10 4", "20 0"}));
    EXPECT_EQ(timeline("thread.prv", 1, 431), Texts{});
    EXPECT_EQ(timeline("thread.prv", 1, 432), Texts{});
  }
}

TEST_F(Shark, SignalsAreShown) {
  file.at(0).rate(kNsRate).id(1, 1).id(2, 2).context_switch(1);
  file.at(10).record(FTrace_EVT_signal).at(20).record(FTrace_EVT_signal, 2, 0x0a000001);
  EXPECT_EQ(timeline("thread.prv", 1, 412), (Texts{"9 1", "10 0"})) << "of who runs";
  EXPECT_EQ(timeline("thread.prv", 2, 412), (Texts{"19 1", "20 0"}));
  for (int type : {410, 411})
    EXPECT_EQ(timeline("thread.prv", 2, type), Texts{});
}

TEST_F(Shark, AllUserEventsAreFree) {
  file.at(0).rate(kNsRate).id(1, 1).context_switch(1);
  for (uint16_t number = 0; number <= 14; number++)
    file.at(10u + number).record(uint16_t(number << 4 | FTrace_EVT_user_event_0), 1, 7);
  for (int number = 0; number <= 14; number++)
    EXPECT_EQ(timeline("thread.prv", 1, 300 + number), Texts{fmt::format("{} 7", 10 + number)});
  EXPECT_EQ(timeline("thread.prv", 1, 316), Texts{});
  EXPECT_EQ(result.faults, 0u);
}

TEST_F(Shark, ServersHaveNumbersAndNoTask) {
  file.at(0).rate(kNsRate).id(1, 1).context_switch(1);
  file.at(10).record(FTrace_EVT_server_exhaust, 0, 7).at(20);
  file.record(FTrace_EVT_server_using_rec, 1, 8);
  EXPECT_EQ(timeline("cpu.prv", 1, 453), (Texts{"9 3", "10 0", "19 7", "20 0"}));
  EXPECT_EQ(timeline("cpu.prv", 1, 454), (Texts{"9 8", "10 0", "19 9", "20 0"}));
  EXPECT_EQ(timeline("thread.prv", 1, 450), (Texts{}));
}

TEST_F(Shark, ATimerInterruptShowsWhoRunsAfterIt) {
  file.at(0).rate(kNsRate).id(1, 1).id(2, 2).context_switch(1);
  file.at(10).record(FTrace_EVT_timer_wakeup_start).at(11).record(FTrace_EVT_task_timer, 2, 0);
  file.at(12).record(FTrace_EVT_timer_wakeup_end, 2);
  file.at(20).record(FTrace_EVT_task_activate, 1);
  const ReadBack back = read();
  EXPECT_EQ(back.text(kStates),
            (Texts{"task_dispatch@0/1", "task_activate@11/2", "task_epilogue@12/1",
                   "task_dispatch@12/2", "task_activate@20/1"}));
  std::vector<uint32_t> contexts;
  for (const Event &event : back.events)
    if (event.kind == FTrace_EVT_task_activate)
      contexts.push_back(event.par2);
  EXPECT_EQ(contexts, (std::vector<uint32_t>{FTRACE_WAKER_HARDIRQ << FTRACE_REASON_SHIFT | 1,
                                             FTRACE_WAKER_TASK << FTRACE_REASON_SHIFT | 2}));
}

TEST_F(Shark, WakerIsNotKnownIfNoInterruptIsLogged) {
  file.at(0).rate(kNsRate).context_switch(1).at(1).record(FTrace_EVT_task_activate, 2);
  for (const Event &event : read().events) {
    if (event.kind == FTrace_EVT_task_activate) {
      EXPECT_EQ(event.par2 >> FTRACE_REASON_SHIFT, uint32_t(FTRACE_WAKER_UNKNOWN));
    }
  }
}

TEST_F(Shark, WakerIsNotKnownWhileItIsNotKnownWhoRuns) {
  file.at(0).rate(kNsRate).record(FTrace_EVT_interrupt_start, 1);
  file.at(1).record(FTrace_EVT_interrupt_end, 1).at(2).record(FTrace_EVT_task_activate, 2);
  EXPECT_EQ(timeline("thread.prv", 1, 221), (Texts{"2 5"})) << "not a thread";
}

TEST_F(Shark, ImpossibleOrdersAreFaultsAndOtherEventsAreRight) {
  file.at(0).rate(kNsRate).id(1, 1).id(2, 2).record(FTrace_EVT_task_dispatch, 1);
  file.at(10).record(FTrace_EVT_task_dispatch, 2); // 1 has not left
  file.at(20).record(FTrace_EVT_task_sleep, 1);    // nor does it run
  file.at(30).record(FTrace_EVT_task_epilogue, 2).record(FTrace_EVT_task_dispatch, 1);
  EXPECT_EQ(timeline("thread.prv", 2, 4), (Texts{"10 1", "30 4"}));
  EXPECT_EQ(timeline("thread.prv", 1, 4), (Texts{"0 1", "10 0", "20 2", "30 1"}));
  EXPECT_EQ(result.faults, 0u)
      << "that 1 left was not seen, and of an Unknown thread it is learned";
}

TEST_F(Shark, NothingIsKnownWhileTheFamilyTaskIsFiltered) {
  file.at(0).rate(kNsRate).id(1, 1).context_switch(1);
  file.at(10).record(FTrace_filter_task, 1).at(20).record(FTrace_filter_task, 0);
  file.at(30).context_switch(1);
  EXPECT_EQ(timeline("thread.prv", 1, 4), (Texts{"0 1", "10 0", "30 1"}));
  EXPECT_EQ(timeline("cpu.prv", 1, 10), (Texts{"10 1", "20 0"}));
  EXPECT_EQ(timeline("cpu.prv", 1, 472), (Texts{"10 4", "20 0"}));
  EXPECT_EQ(result.faults, 0u);
}

TEST_F(Shark, AnEventOfNobodyIsReported) {
  file.at(0).rate(kNsRate).id(1, 1).record(FTrace_EVT_task_epilogue);
  const ReadBack back = read();
  EXPECT_EQ(back.sink.count("task_epilogue names no context"), 1u);
  EXPECT_TRUE(back.text(kStates).empty());
}

// ---- cycles ----

TEST_F(Shark, CyclesBeginWithTheFirstSignOfLifeWhereOnlyEndsAreLogged) {
  file.at(0).rate(kNsRate).id(1, 1).id(2, 2).context_switch(1);
  file.at(10).record(FTrace_EVT_task_timer, 2).at(12).context_switch(2);
  file.at(20).record(FTrace_EVT_task_end_cycle, 2).at(22).context_switch(1);
  file.at(30).record(FTrace_EVT_task_timer, 2).at(32).context_switch(2);
  file.at(45).record(FTrace_EVT_task_end_cycle, 2);
  EXPECT_EQ(timeline("thread.prv", 2, 460), (Texts{"10 1", "20 0", "30 2", "45 0"}));
  EXPECT_EQ(timeline("thread.prv", 2, 461), (Texts{"19 10", "20 0", "44 15", "45 0"}));
  EXPECT_EQ(timeline("thread.prv", 1, 460), Texts{}) << "which has none";
  EXPECT_EQ(result.faults, 0u);
}

TEST_F(Shark, CyclesBeginWhereTheFileSaysSo) {
  file.at(0).rate(kNsRate).id(2, 2).context_switch(2);
  file.at(10).record(FTrace_EVT_task_begin_cycle).at(20).record(FTrace_EVT_task_end_cycle, 2);
  file.at(30).record(FTrace_EVT_task_begin_cycle, 2).at(35).record(FTrace_EVT_task_begin_cycle, 2);
  EXPECT_EQ(timeline("thread.prv", 1, 460), (Texts{"10 1", "20 0", "30 2", "35 3"}));
  EXPECT_EQ(result.faults, 1u) << "the second cycle did not end";
}

TEST_F(Shark, ACycleThatFollowsAtOnceKeepsTheCpu) {
  file.at(0).rate(kNsRate).id(2, 2).context_switch(2).at(10).record(FTrace_EVT_task_timer, 2);
  file.at(20).record(FTrace_EVT_task_end_cycle, 2);
  file.at(21).record(FTrace_EVT_task_schedule, 2, 2).context_switch(2).at(22).context_switch(3);
  EXPECT_EQ(timeline("thread.prv", 1, 4), (Texts{"0 1", "22 4"}));
}

TEST_F(Shark, ACycleIsNotKnownAfterABlackout) {
  file.at(0).rate(kNsRate).id(1, 1).context_switch(1);
  file.at(10).record(FTrace_EVT_task_begin_cycle, 1);
  file.at(20).record(FTrace_EVT_blackout_start).at(30).record(FTrace_EVT_blackout_end);
  file.at(40).record(FTrace_EVT_task_end_cycle, 1); // of the same cycle, or of a later one
  file.at(50).record(FTrace_EVT_task_begin_cycle, 1).at(60).record(FTrace_filter_task, 1);
  file.at(70).record(FTrace_filter_task, 0).at(80).record(FTrace_EVT_task_begin_cycle, 1);
  file.at(90).record(FTrace_EVT_task_end_cycle, 1);
  EXPECT_EQ(timeline("thread.prv", 1, 460),
            (Texts{"10 1", "20 0", "50 2", "60 0", "80 3", "90 0"}));
  EXPECT_EQ(timeline("thread.prv", 1, 461), (Texts{"89 10", "90 0"}));
  EXPECT_EQ(result.faults, 0u);
}

/// It may have begun in the blackout, unless the task was created later.
TEST_F(Shark, AfterABlackoutCyclesBeginAfterTheNextEndWhereOnlyEndsAreLogged) {
  file.at(0).rate(kNsRate).id(1, 1).id(2, 2).context_switch(1);
  file.at(10).record(FTrace_EVT_task_timer, 2).at(12).context_switch(2);
  file.at(15).record(FTrace_EVT_task_end_cycle, 2);
  file.at(20).record(FTrace_EVT_blackout_start).at(30).record(FTrace_EVT_blackout_end);
  file.at(40).context_switch(2).at(50).record(FTrace_EVT_task_end_cycle, 2);
  file.at(60).record(FTrace_EVT_task_timer, 2).at(70).record(FTrace_EVT_task_end_cycle, 2);
  file.at(75).record(FTrace_EVT_task_create, 3, 3).at(80).context_switch(3);
  file.at(90).record(FTrace_EVT_task_end_cycle, 3);
  EXPECT_EQ(timeline("thread.prv", 2, 460), (Texts{"10 1", "15 0", "60 2", "70 0"}));
  EXPECT_EQ(timeline("thread.prv", 2, 461), (Texts{"14 5", "15 0", "69 10", "70 0"}));
  EXPECT_EQ(timeline("thread.prv", 3, 460), (Texts{"80 1", "90 0"}));
  EXPECT_EQ(result.faults, 0u);
}

TEST_F(Shark, ACycleWhoseEndIsTheFirstRecordOfItsTaskBeginsNoOther) {
  file.at(0).rate(kNsRate).id(1, 1).id(2, 2).at(10).record(FTrace_EVT_task_end_cycle, 1);
  file.at(20).context_switch(2).at(30).record(FTrace_EVT_task_timer, 1);
  file.at(35).context_switch(1).at(40).record(FTrace_EVT_task_end_cycle, 1);
  EXPECT_EQ(timeline("thread.prv", 1, 460), (Texts{"30 2", "40 0"}));
  EXPECT_EQ(timeline("thread.prv", 1, 461), (Texts{"39 10", "40 0"}));
  EXPECT_EQ(result.faults, 0u);
}

TEST_F(Shark, ATaskThatHasEndedIsInNoCycle) {
  file.at(0).rate(kNsRate).id(1, 1).context_switch(1);
  file.at(10).record(FTrace_EVT_task_begin_cycle, 1).at(20).record(FTrace_EVT_task_end, 1, 1);
  file.at(30).record(FTrace_EVT_trace_stop);
  EXPECT_EQ(timeline("thread.prv", 1, 460), (Texts{"10 1", "20 0"}));
}

TEST_F(Shark, DeadlineMissesAndWcetViolationsArePunctual) {
  file.at(0).rate(kNsRate).id(2, 2).context_switch(2);
  file.at(10).record(FTrace_EVT_task_deadline_miss, 2);
  file.at(20).record(FTrace_EVT_task_wcet_violation, 2).at(30).record(FTrace_EVT_trace_stop);
  EXPECT_EQ(timeline("thread.prv", 1, 462), (Texts{"9 1", "10 0"}));
  EXPECT_EQ(timeline("thread.prv", 1, 463), (Texts{"19 1", "20 0"}));
  EXPECT_EQ(timeline("cpu.prv", 1, 462), (Texts{"9 1", "10 0"}));
}

} // namespace
} // namespace ovnitrace::test
