// SPDX-License-Identifier: BSD-2-Clause
// The ovni model: transitions by scheduler records, resynchronisation after what is impossible,
// blackouts, exec, snapshots.
#include "tests/unit/support/replay_rig.h"

#include <gtest/gtest.h>

namespace ovnitrace {
namespace {

using enum ThreadState;
using test::ReplayRig;
using test::Timeline;

uint32_t snapshot(ThreadState state, uint32_t cpu) {
  return uint32_t(state) | cpu << FTRACE_SNAPSHOT_CPU_SHIFT;
}

TEST(KernelEvents, LeadFromBirthToDeath) {
  ReplayRig rig;
  rig.at(1).activate(0);
  EXPECT_EQ(rig.state(0), Warming) << "a new thread waits for its first CPU";
  rig.at(2).dispatch(0);
  EXPECT_EQ(rig.state(0), Running) << "execute";
  rig.at(3).epilogue(0);
  EXPECT_EQ(rig.state(0), Cooling) << "cool";
  rig.at(4).dispatch(0);
  EXPECT_EQ(rig.state(0), Running) << "a preempted thread gets its CPU back";
  rig.at(5).sleep(0);
  EXPECT_EQ(rig.state(0), Paused) << "pause";
  rig.at(6).activate(0);
  EXPECT_EQ(rig.state(0), Warming) << "warm";
  rig.at(7).dispatch(0);
  EXPECT_EQ(rig.state(0), Running) << "resume";
  rig.at(8).end(0);
  EXPECT_EQ(rig.state(0), Dead) << "end";
  rig.flush();
  EXPECT_EQ(rig.faults(), 0u);
  EXPECT_EQ(rig.threads.values(0, 4), (std::vector<int64_t>{5, 1, 4, 1, 2, 5, 1, 3}));
  EXPECT_EQ(rig.threads.timeline(0, 6), (Timeline{{2, 1}, {8, 0}}));
}

TEST(KernelEvents, AWakeupOfAThreadThatDoesNotSleepIsNoTransition) {
  ReplayRig rig;
  rig.at(1).dispatch(0).at(2).activate(0);
  EXPECT_EQ(rig.state(0), Running);
  rig.at(3).epilogue(0).at(4).activate(0);
  EXPECT_EQ(rig.state(0), Cooling);
  rig.at(5).dispatch(0).at(6).end(0).at(7).activate(0);
  EXPECT_EQ(rig.state(0), Dead);
  EXPECT_EQ(rig.faults(), 0u);
}

TEST(KernelEvents, AWakeupSetsNoCpu) {
  ReplayRig rig;
  rig.at(1).dispatch(0, 1).at(2).sleep(0, 1).at(3).activate(0, 0);
  EXPECT_EQ(rig.cpu(0), 1u) << "it was logged where the waker ran";
}

TEST(KernelEvents, CreationIsBirthOnly) {
  ReplayRig rig;
  rig.at(1).ftrace(FTrace_EVT_task_create, 1, 1, 101);
  EXPECT_EQ(rig.state(1), Unknown);
  EXPECT_EQ(rig.cpu(1), kNone);
  EXPECT_EQ(rig.faults(), 0u);
}

TEST(KernelEvents, ANewThreadMayBeMigratedBeforeItsFirstWakeup) {
  ReplayRig rig;
  rig.at(1).ftrace(FTrace_EXT_migrate, 1, 0, 1).at(2).activate(1);
  EXPECT_EQ(rig.state(1), Warming);
  EXPECT_EQ(rig.cpu(1), 1u);
  EXPECT_EQ(rig.faults(), 0u);
}

TEST(KernelEvents, AMigrationKeepsTheState) {
  ReplayRig rig;
  rig.at(1).dispatch(0).at(2).epilogue(0).at(3).ftrace(FTrace_EXT_migrate, 0, 1, 1).flush();
  EXPECT_EQ(rig.state(0), Cooling);
  EXPECT_EQ(rig.threads.timeline(0, 6), (Timeline{{1, 1}, {3, 2}}));
}

TEST(KernelEvents, AMigrationToACpuThatIsNotInTheTraceIsReported) {
  ReplayRig rig;
  rig.at(1).dispatch(0).at(2).epilogue(0).at(3).ftrace(FTrace_EXT_migrate, 0, 0, 77);
  EXPECT_EQ(rig.faults(), 1u);
  EXPECT_NE(rig.last_fault().find("77"), std::string::npos);
  EXPECT_EQ(rig.cpu(0), kNone);
}

TEST(KernelEvents, ADispatchWhereAnotherStillRunsMakesThatOneUnknown) {
  ReplayRig rig;
  rig.at(1).dispatch(0).at(2).dispatch(1).flush();
  EXPECT_EQ(rig.state(0), Unknown);
  EXPECT_EQ(rig.state(1), Running);
  EXPECT_EQ(rig.cpus.timeline(0, 3), (Timeline{{1, 1}})) << "one thread, before and after";
  ASSERT_EQ(rig.faults(), 1u);
  EXPECT_EQ(rig.last_fault(), "t1 (101) gets CPU 0, on which t0 (100) still runs");
  EXPECT_EQ(rig.sink.reported[0].file, "cpu0000.ftr");
  EXPECT_EQ(rig.sink.reported[0].offset, 16u);
  EXPECT_EQ(rig.sink.reported[0].time, 2u);
}

TEST(KernelEvents, ADispatchOfARunningThreadMovesItThere) {
  ReplayRig rig;
  rig.at(1).dispatch(0, 0).at(2).dispatch(0, 1).flush();
  EXPECT_EQ(rig.faults(), 1u);
  EXPECT_EQ(rig.cpu(0), 1u);
  EXPECT_EQ(rig.cpus.timeline(0, 3), (Timeline{{1, 1}, {2, 0}}));
  EXPECT_EQ(rig.cpus.timeline(1, 3), (Timeline{{2, 1}}));
}

/// Each scheduler record in each state: whether it is reported, and the state afterwards.
TEST(KernelEvents, EveryRecordInEveryState) {
  struct Row {
    uint32_t code;
    ThreadState after;
    std::vector<ThreadState> legal;
  };
  const Row rows[] = {
      {FTrace_EVT_task_dispatch, Running, {Unknown, Paused, Cooling, Warming}},
      {FTrace_EVT_task_epilogue, Cooling, {Unknown, Running}},
      {FTrace_EVT_task_sleep, Paused, {Unknown, Running}},
      {FTrace_EVT_task_end, Dead, {Unknown, Running}},
  };
  for (const Row &row : rows)
    for (ThreadState from : {Unknown, Running, Paused, Dead, Cooling, Warming}) {
      ReplayRig rig;
      if (from != Unknown) // a snapshot with that state says that the thread left the filters
        rig.at(1).ftrace(FTrace_EXT_snapshot, 0, 0, snapshot(from, 0));
      ASSERT_EQ(rig.state(0), from);
      rig.at(2).ftrace(row.code, 0);
      bool legal = std::find(row.legal.begin(), row.legal.end(), from) != row.legal.end();
      EXPECT_EQ(rig.faults(), legal ? 0u : 1u) << row.code << " in " << name(from);
      EXPECT_EQ(rig.state(0), row.after) << row.code << " in " << name(from);
    }
}

TEST(KernelEvents, AThreadThatLeftTheFiltersStaysUnknownUntilItPassesThemAgain) {
  ReplayRig rig;
  rig.at(1).dispatch(0, 0).at(2).ftrace(FTrace_EXT_snapshot, 0, 0, snapshot(Unknown, 0));
  EXPECT_EQ(rig.state(0), Unknown);
  rig.at(3).ftrace(FTrace_EVT_task_dispatch, 0);
  EXPECT_EQ(rig.state(0), Unknown) << "logged before, and late";
  rig.at(4).ftrace(FTrace_EXT_snapshot, 0, 0, snapshot(Paused, 0));
  EXPECT_EQ(rig.state(0), Paused);
  rig.at(5).ftrace(FTrace_EVT_task_dispatch, 0);
  EXPECT_EQ(rig.state(0), Running);
}

TEST(KernelEvents, ASwitchOutOnAnotherCpuThanItsOwnIsReported) {
  ReplayRig rig;
  rig.at(1).dispatch(0, 0).at(2).sleep(0, 1);
  EXPECT_EQ(rig.faults(), 1u);
  EXPECT_EQ(rig.state(0), Paused);
  EXPECT_EQ(rig.cpu(0), 1u);
}

TEST(KernelEvents, ExecByTheMainThreadChangesNothing) {
  ReplayRig rig;
  rig.at(1).dispatch(0).at(2).ftrace(FTrace_EXT_exec, 0, 0, 100);
  EXPECT_EQ(rig.state(0), Running);
  EXPECT_EQ(rig.faults(), 0u);
}

TEST(KernelEvents, ExecByAnotherThreadGoesOnInTheRowOfTheMainOne) {
  ReplayRig rig;
  rig.at(1).dispatch(0, 0).at(2).end(0, 0).at(3).dispatch(1, 1);
  rig.at(4).ftrace(FTrace_EXT_exec, 0, 1, 101).flush();
  EXPECT_EQ(rig.state(1), Dead);
  EXPECT_EQ(rig.state(0), Running);
  EXPECT_EQ(rig.cpu(0), 1u);
  EXPECT_EQ(rig.faults(), 0u);
  EXPECT_EQ(rig.cpus.timeline(1, 2), (Timeline{{3, 101}, {4, 100}}));
}

TEST(KernelEvents, ExecByAThreadThatTheProcessDoesNotHaveIsReported) {
  ReplayRig rig;
  rig.at(1).dispatch(0, 0).at(2).ftrace(FTrace_EXT_exec, 0, 0, 999);
  EXPECT_EQ(rig.last_fault(),
            "t0 (100) goes on with execve of thread 999, which its process does not have");
  ReplayRig begun; // what came before is forgotten
  begun.at(1).ftrace(FTrace_EXT_exec, 0, 0, 999);
  EXPECT_EQ(begun.faults(), 0u);
  EXPECT_EQ(begun.state(0), Running);
}

TEST(KernelEvents, ExecWhereAnotherStillRunsMakesThatOneUnknown) {
  ReplayRig rig(3);
  rig.at(1).dispatch(1, 0).at(2).dispatch(2, 1).at(3).ftrace(FTrace_EXT_exec, 0, 1, 101);
  EXPECT_EQ(rig.last_fault(), "t0 (100) gets CPU 1, on which t2 (102) still runs");
  EXPECT_EQ(rig.state(2), Unknown);
  EXPECT_EQ(rig.state(0), Running);
}

TEST(Snapshot, GivesAnyStateToAnUnknownThread) {
  for (ThreadState s : {Unknown, Running, Paused, Dead, Cooling, Warming}) {
    ReplayRig rig;
    rig.at(1).ftrace(FTrace_EXT_snapshot, 0, 0, snapshot(s, 1));
    EXPECT_EQ(rig.state(0), s);
    EXPECT_EQ(rig.faults(), 0u);
  }
}

TEST(Snapshot, IsIgnoredForAThreadThatEventsHaveShown) {
  ReplayRig rig;
  rig.at(1).dispatch(0, 1).at(2).ftrace(FTrace_EXT_snapshot, 0, 0, snapshot(Paused, 0));
  EXPECT_EQ(rig.state(0), Running);
  EXPECT_EQ(rig.faults(), 0u);
}

TEST(Snapshot, DoesNotPutASecondThreadOnACpu) {
  ReplayRig rig;
  rig.at(1).dispatch(1, 0).at(2).ftrace(FTrace_EXT_snapshot, 0, 0, snapshot(Running, 0));
  EXPECT_EQ(rig.state(0), Unknown);
  EXPECT_EQ(rig.state(1), Running);
}

TEST(Snapshot, UnknownStateIsReported) {
  ReplayRig rig;
  rig.at(1).ftrace(FTrace_EXT_snapshot, 0, 0, 6);
  EXPECT_EQ(rig.faults(), 1u);
  EXPECT_EQ(rig.state(0), Unknown);
}

TEST(Snapshot, RunnableThreadOnACpuOutsideTheTraceIsReported) {
  for (ThreadState s : {Running, Cooling, Warming, Paused}) {
    ReplayRig rig;
    rig.at(1).ftrace(FTrace_EXT_snapshot, 0, 0, snapshot(s, 500));
    EXPECT_EQ(rig.faults(), s == Paused ? 0u : 1u) << "a CPU that is offline may be its last one";
    EXPECT_EQ(rig.state(0), s);
    EXPECT_EQ(rig.cpu(0), kNone);
  }
}

TEST(State, IsForReadersThatLackTheEvents) {
  ReplayRig rig;
  rig.at(1).ftrace(FTrace_EXT_state, 0, 0, snapshot(Running, 1)).at(2).activate(0);
  rig.at(3).ftrace(FTrace_EXT_state, 0, 1, snapshot(Paused, 0)).flush();
  EXPECT_EQ(rig.state(0), Running);
  EXPECT_EQ(rig.cpu(0), 1u);
  EXPECT_EQ(rig.threads.timeline(0, 4), (Timeline{{1, 1}}));
  EXPECT_EQ(rig.faults(), 0u);
}

TEST(State, MayBeKnownWithoutTheCpu) {
  ReplayRig rig;
  rig.at(1).ftrace(FTrace_EXT_state, 0, 0, snapshot(Warming, FTRACE_SNAPSHOT_NO_CPU));
  EXPECT_EQ(rig.state(0), Warming);
  EXPECT_EQ(rig.cpu(0), kNone);
  EXPECT_EQ(rig.faults(), 0u);
}

/// CPU 0 has forgotten what CPU 1 still knows.
class Forgotten : public ::testing::Test {
protected:
  void start() {
    rig.ftrace(FTrace_EVT_blackout_start, kNone, 0, 0, kNone, FTRACE_BLACKOUT_FORGOTTEN);
  }
  void end() { rig.ftrace(FTrace_EVT_blackout_end, kNone, 0, 9, kNone, FTRACE_BLACKOUT_FORGOTTEN); }
  ReplayRig rig{3, 2};
};

TEST_F(Forgotten, EvictedEventsHideOnlyTheirThreads) {
  rig.at(1);
  start();
  rig.ftrace(FTrace_EXT_state, 0, 0, snapshot(Paused, 1));  // thread 0 is paused
  rig.ftrace(FTrace_EXT_state, 1, 0, snapshot(Running, 0)); // thread 1 runs where all is forgotten
  rig.at(5).activate(0, 1).dispatch(2, 1).at(6).sleep(2, 1).dispatch(0, 1).at(7).epilogue(0, 1);
  rig.at(8);
  end();
  rig.at(9).sleep(1, 0).flush();
  EXPECT_EQ(rig.threads.timeline(0, 4), (Timeline{{1, 2}, {5, 5}, {6, 1}, {7, 4}}));
  EXPECT_EQ(rig.threads.timeline(1, 4), (Timeline{{1, 1}, {9, 2}}));
  EXPECT_EQ(rig.threads.timeline(2, 4), (Timeline{{5, 1}, {6, 0}}))
      << "it may have been woken unseen";
  EXPECT_EQ(rig.faults(), 0u);
}

TEST_F(Forgotten, ARecordedStateOverridesOlderEvents) {
  rig.at(1);
  start();
  rig.at(2).dispatch(0, 1).at(3).sleep(0, 1).at(4).ftrace(FTrace_EXT_state, 0, 0,
                                                          snapshot(Unknown, 0));
  rig.at(5).activate(0, 1).flush();
  EXPECT_EQ(rig.threads.timeline(0, 4), (Timeline{{2, 1}, {3, 0}, {5, 5}}));
}

TEST_F(Forgotten, LostEventsHideAThreadAfterItsState) {
  rig.at(1);
  start();
  rig.ftrace(FTrace_EXT_state, 0, 0, snapshot(Paused, 0));
  rig.at(2)
      .ftrace(FTrace_EVT_blackout_start, kNone, 1)
      .at(3)
      .ftrace(FTrace_EVT_blackout_end, kNone, 1)
      .at(4);
  rig.ftrace(FTrace_EXT_state, 1, 1,
             snapshot(Paused, 0)); // of a chunk, on a CPU that has forgotten nothing
  rig.at(5).activate(0, 1).flush();
  EXPECT_EQ(rig.threads.timeline(0, 4), (Timeline{{1, 2}, {2, 0}, {5, 5}}));
  EXPECT_EQ(rig.state(1), Unknown);
}

class Blackout : public ::testing::Test {
protected:
  Blackout() : rig(5, 3) {
    rig.at(1).dispatch(0, 0).dispatch(1, 1);
    rig.dispatch(2, 2).sleep(2, 2).dispatch(3, 2).epilogue(3, 2);
    rig.dispatch(4, 2).end(4, 2);
  }
  void start(uint32_t cpu) { rig.ftrace(FTrace_EVT_blackout_start, kNone, cpu); }
  void stop(uint32_t cpu, uint32_t lost) { rig.ftrace(FTrace_EVT_blackout_end, kNone, cpu, lost); }
  ReplayRig rig;
};

TEST_F(Blackout, OnlyThreadsThatRunOnOtherCpusStayKnown) {
  rig.at(2);
  start(0);
  EXPECT_EQ(rig.state(0), Unknown) << "ran on the CPU in blackout";
  EXPECT_EQ(rig.state(1), Running) << "runs elsewhere";
  EXPECT_EQ(rig.state(2), Unknown) << "may have been woken there";
  EXPECT_EQ(rig.state(3), Unknown) << "may have been run there";
  EXPECT_EQ(rig.state(4), Dead) << "stays dead";
  rig.flush();
  EXPECT_EQ(rig.cpus.timeline(0, 3), (Timeline{{1, 1}, {2, 0}})) << "no running thread";
}

TEST_F(Blackout, ASwitchOutDuringABlackoutLeadsToUnknown) {
  rig.at(2);
  start(0);
  rig.at(3).epilogue(1, 1);
  EXPECT_EQ(rig.state(1), Unknown);
  rig.at(4).dispatch(2, 1);
  EXPECT_EQ(rig.state(2), Running) << "what runs on another CPU is known";
  rig.at(5).sleep(2, 1);
  EXPECT_EQ(rig.state(2), Unknown);
  EXPECT_EQ(rig.faults(), 0u);
}

TEST_F(Blackout, ThreadsStayUnknownUntilTheirNextEvent) {
  rig.at(2);
  start(0);
  rig.at(3);
  stop(0, 7);
  EXPECT_EQ(rig.state(0), Unknown);
  EXPECT_EQ(rig.state(2), Unknown);
  rig.at(4).sleep(0, 0);
  EXPECT_EQ(rig.state(0), Paused) << "it leaves its CPU: now it is known";
  rig.at(5).activate(2);
  EXPECT_EQ(rig.state(2), Warming);
  rig.at(6).dispatch(3, 2);
  EXPECT_EQ(rig.state(3), Running);
  EXPECT_EQ(rig.faults(), 0u);
}

TEST_F(Blackout, LastsUntilTheLastCpuHasEndedIt) {
  rig.at(2);
  start(0);
  start(1);
  rig.at(3);
  stop(0, 1);
  rig.at(4).dispatch(0, 0).at(5).sleep(0, 0);
  EXPECT_EQ(rig.state(0), Unknown);
  rig.at(6);
  stop(1, 1);
  rig.at(7).dispatch(0, 0).at(8).sleep(0, 0);
  EXPECT_EQ(rig.state(0), Paused);
}

TEST_F(Blackout, IsShownOnItsCpuWithTheNumberOfEventsLost) {
  rig.at(20);
  start(1);
  rig.at(30);
  stop(1, 7);
  rig.flush();
  EXPECT_EQ(rig.cpus.timeline(1, 10), (Timeline{{20, 1}, {30, 0}}));
  EXPECT_EQ(rig.cpus.timeline(1, 11), (Timeline{{29, 7}, {30, 0}}));
  EXPECT_TRUE(rig.cpus.timeline(0, 10).empty());
}

TEST_F(Blackout, ClearsTheSchedulingChannels) {
  rig.at(2).sleep(1, 1, 2u << FTRACE_REASON_SHIFT).flush();
  EXPECT_EQ(rig.threads.values(1, 200), (std::vector<int64_t>{3}));
  rig.at(3);
  start(0);
  rig.flush();
  EXPECT_EQ(rig.threads.values(1, 200), (std::vector<int64_t>{3, 0}));
  EXPECT_EQ(rig.threads.values(1, 6).back(), 0) << "nor is its CPU known";
}

} // namespace
} // namespace ovnitrace
