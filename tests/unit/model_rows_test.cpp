// SPDX-License-Identifier: BSD-2-Clause
// What happens to the second thread or CPU is shown in its row, and in no other.
#include "tests/unit/support/replay_rig.h"

#include <gtest/gtest.h>

namespace ovnitrace {
namespace {

using test::ReplayRig;
using test::Timeline;

/// Three threads and three CPUs.
struct ModelRows : ::testing::Test {
  void expect_thread(uint32_t type, const Timeline &timeline) {
    rig.flush();
    for (const uint32_t thread : {0, 1, 2})
      EXPECT_EQ(rig.threads.timeline(thread, type), thread == 1 ? timeline : Timeline())
          << type << " of thread " << thread;
  }
  void expect_cpu(uint32_t type, const Timeline &timeline) {
    rig.flush();
    for (const uint32_t cpu : {0, 1, 2})
      EXPECT_EQ(rig.cpus.timeline(cpu, type), cpu == 1 ? timeline : Timeline())
          << type << " of CPU " << cpu;
  }
  ReplayRig rig{3, 3};
};

TEST_F(ModelRows, OfReasonsAndPriorities) {
  rig.at(1).dispatch(1, 1, 121).at(5).sleep(1, 1, 102u | FTRACE_OFFCPU_DISK << FTRACE_REASON_SHIFT);
  rig.at(9).activate(1, 0).flush();
  expect_thread(200, {{5, FTRACE_OFFCPU_DISK + 1}, {9, 0}});
  expect_thread(201, {{5, 102}, {9, 0}});
  expect_thread(202, {{1, 121}, {5, 0}});
  expect_cpu(202, {{1, 121}, {5, 0}});
}

TEST_F(ModelRows, OfThrottledThreads) {
  rig.at(1).dispatch(1, 1).at(5).epilogue(1, 1, FTRACE_OFFCPU_THROTTLED << FTRACE_REASON_SHIFT);
  rig.at(9).ftrace(FTrace_EXT_refill, 1, 0).at(20).dispatch(1, 1).flush();
  expect_thread(200, {{5, FTRACE_OFFCPU_THROTTLED + 1}, {9, FTRACE_OFFCPU_REFILLED + 1}, {20, 0}});
}

TEST_F(ModelRows, OfThreadsThatAreFoundAsleep) {
  const auto found = [](uint32_t reason) {
    return uint32_t(ThreadState::Paused) | reason << FTRACE_REASON_SHIFT;
  };
  rig.at(5).ftrace(FTrace_EXT_state, 1, 1, found(FTRACE_OFFCPU_DISK));
  rig.at(9).ftrace(FTrace_EXT_state, 1, 1, found(FTRACE_OFFCPU_SLEEP)); // nothing new
  rig.at(20).dispatch(1, 1).flush();
  expect_thread(200, {{5, FTRACE_OFFCPU_DISK + 1}, {20, 0}});
  expect_thread(201, {});
}

/// Another CPU may have woken it since.
TEST_F(ModelRows, OfThreadsThatSleepDuringALoss) {
  rig.at(1).dispatch(1, 1).ftrace(FTrace_EVT_blackout_start, kNone, 2);
  rig.at(5).sleep(1, 1, 102u | FTRACE_OFFCPU_DISK << FTRACE_REASON_SHIFT).flush();
  expect_thread(200, {});
  expect_thread(201, {});
}

TEST_F(ModelRows, OfMarksThatNoStreamDeclares) {
  rig.at(1).ovni("OHx", 1, {1}).at(5).ovni("OM=", 1, {42, 0, 7}).at(9).ovni("OM[", 1, {43, 0, 0});
  rig.at(20).ovni("OM]", 1, {43, 0, 0}).flush();
  expect_thread(107, {{5, 42}});
  expect_thread(100, {{9, 43}, {20, 0}});
  expect_cpu(107, {{5, 42}});
}

TEST_F(ModelRows, OfMarksThatAreMalformedAreEmpty) {
  rig.at(1).ovni("OHx", 1, {1});
  const std::vector<int32_t> payloads[] = {{42, 0}, {42, 0, -1}, {42, 0, 100}, {0, 0, 5}};
  for (const std::vector<int32_t> &payload : payloads) {
    rig.at(5).ovni("OM=", 1, payload);
    EXPECT_EQ(rig.last_fault(),
              "mark of t1 (101) without a value that is not 0 and a type from 0 to 99");
  }
  EXPECT_EQ(rig.faults(), 4u);
  expect_thread(105, {});
  rig.at(9).ovni("OM=", 1, {42, 0, 99}).flush();
  expect_thread(199, {{9, 42}});
}

TEST_F(ModelRows, OfRegionsThatHaveStopped) {
  rig.at(10).ftrace(FTrace_EXT_region, 1, 1, 1u << 24 | 1).at(20);
  rig.ftrace(FTrace_EXT_region, 1, 1, 1).at(30).dispatch(1, 1).flush();
  expect_thread(480, {{10, 1}, {20, 0}});
}

TEST_F(ModelRows, OfThreadsThatEnd) {
  rig.at(1).dispatch(1, 1, 121).at(5).end(1, 1).flush();
  expect_thread(202, {{1, 121}, {5, 0}});
  expect_thread(4, {{1, 1}, {5, 3}});
}

TEST_F(ModelRows, OfThreadsThatEndWithoutBeingSeenOnACpu) {
  rig.at(1).dispatch(1, 1).at(5).sleep(1, 1, 102u | FTRACE_OFFCPU_DISK << FTRACE_REASON_SHIFT);
  rig.at(9).end(1, 1).flush();
  expect_thread(200, {{5, FTRACE_OFFCPU_DISK + 1}, {9, 0}});
  expect_thread(201, {{5, 102}, {9, 0}});
}

TEST_F(ModelRows, OfThreadsThatGotTheirCpuDuringALoss) {
  rig.at(1).ftrace(FTrace_EVT_blackout_start, kNone, 1).at(5).dispatch(1, 1, 121);
  rig.at(9).ftrace(FTrace_EVT_blackout_end, kNone, 1, 3).at(12);
  rig.ftrace(FTrace_EXT_state, 1, 1,
             uint32_t(ThreadState::Running) | 1 << FTRACE_SNAPSHOT_CPU_SHIFT);
  rig.flush();
  EXPECT_EQ(rig.state(1), ThreadState::Running);
  expect_thread(202, {});
}

TEST_F(ModelRows, OfSystemCalls) {
  rig.at(1).dispatch(1).at(5).blocked(1, FTRACE_CALL_NATIVE + 2).at(9).activate(1).flush();
  expect_thread(203, {{5, 3}, {9, 0}});
}

TEST_F(ModelRows, OfThreadsThatRunForOthers) {
  rig.at(1).dispatch(1, 1).at(5).ftrace(FTrace_EVT_inheritance, 1, 1, 0, 2);
  rig.at(9).ftrace(FTrace_EVT_inheritance, 1, 1, 0, 1).flush();
  expect_thread(464, {{5, 102}, {9, 0}});
}

TEST_F(ModelRows, OfBudgets) {
  rig.at(1).dispatch(1, 1).at(5).ftrace(FTrace_EVT_server_active, 1, 1, 77);
  rig.at(9).ftrace(FTrace_EVT_server_exhaust, 1, 1, 6);
  rig.at(20).ftrace(FTrace_EVT_server_reclaiming, 1, 1);
  rig.at(30).ftrace(FTrace_EVT_server_remove, 1, 1).flush();
  expect_thread(450, {{5, 1}, {9, 2}, {20, 4}, {30, 0}});
  expect_thread(451, {{5, 77}, {9, 0}});
  expect_thread(452, {{8, 6}, {9, 0}});
}

TEST_F(ModelRows, OfUserEventsAndSections) {
  rig.at(1).dispatch(1, 1).at(5).user(0, 1, 7, 3).at(9).user(13, 1, 4).at(20).user(14, 1, 4);
  rig.at(30).ftrace(FTrace_EVT_ipoint, 1, 1, 0, kNone, 8).flush();
  expect_thread(300, {{5, 7}});
  expect_thread(320, {{5, 3}});
  expect_thread(316, {{9, 4}, {20, 0}});
  expect_thread(315, {{29, 9}, {30, 0}});
}

TEST_F(ModelRows, OfParametersThatBecome0Again) {
  rig.at(1).dispatch(1, 1).at(5).user(3, 1, 7, 9).at(9).user(3, 1, 7).at(12).user(4, 1, 7);
  expect_thread(323, {{5, 9}, {9, 0}});
  expect_thread(324, {});
}

TEST_F(ModelRows, OfWakersUntilTheThreadRunsOrStopsToWait) {
  constexpr uint32_t kInTask = 102u | FTRACE_WAKER_TASK << FTRACE_REASON_SHIFT;
  uint64_t time = 0;
  Timeline wakers, contexts;
  for (const uint32_t end : {FTrace_EVT_task_dispatch, FTrace_EVT_task_sleep,
                             FTrace_EVT_task_epilogue, FTrace_EVT_task_end}) {
    rig.at(time + 1).sleep(1, 1).at(time + 5).activate(1, 1, kInTask, 2);
    rig.at(time + 9).ftrace(end, 1, 1);
    wakers.insert(wakers.end(), {{time + 5, 102}, {time + 9, 0}});
    contexts.insert(contexts.end(), {{time + 5, FTRACE_WAKER_TASK + 1}, {time + 9, 0}});
    time += 10;
  }
  expect_thread(220, wakers);
  expect_thread(221, contexts);
}

TEST_F(ModelRows, OfInterruptsThatAreCounted) {
  rig.at(5).ftrace(FTrace_EVT_interrupt_hit, kNone, 1, 0, kNone, 3);
  rig.at(9).ftrace(FTrace_EVT_interrupt_count, kNone, 1, 17).flush();
  expect_cpu(400, {{4, 4}, {5, 0}});
  expect_cpu(402, {{9, 17}});
}

TEST_F(ModelRows, OfModesOfCpus) {
  rig.at(5).ftrace(FTrace_EVT_to_real_mode, kNone, 1).at(9);
  rig.ftrace(FTrace_EVT_to_protected_mode, kNone, 1);
  rig.at(15).ftrace(FTrace_EVT_CLI, kNone, 1).at(19).ftrace(FTrace_EVT_STI, kNone, 1);
  rig.at(25).ftrace(FTrace_EVT_data_pointer, kNone, 1, 1000, kNone, 6).flush();
  expect_cpu(470, {{5, 1}, {9, 2}});
  expect_cpu(471, {{15, 1}, {19, 0}});
  expect_cpu(473, {{24, 1000}, {25, 0}});
  expect_cpu(474, {{24, 7}, {25, 0}});
}

TEST_F(ModelRows, OfServersWithoutAThread) {
  rig.at(5).ftrace(FTrace_EVT_server_using_rec, kNone, 1, 9, kNone, 4);
  rig.at(9).ftrace(FTrace_EVT_server_exhaust, kNone, 1, 2).flush();
  expect_cpu(455, {{4, 5}, {5, 0}});
  expect_cpu(453, {{4, 7}, {5, 0}, {8, 3}, {9, 0}});
  expect_cpu(454, {{4, 10}, {5, 0}, {8, 3}, {9, 0}});
}

} // namespace
} // namespace ovnitrace
