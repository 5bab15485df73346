// SPDX-License-Identifier: BSD-2-Clause
// Models at their edges: two hosts, filters that are switched off, values of 0, labels as literals.
#include "emulator/base/palette.h"
#include "emulator/core/replay.h"
#include "emulator/models/registry.h"
#include "tests/unit/support/collecting_rows.h"
#include "tests/unit/support/collecting_sink.h"

#include <gtest/gtest.h>

#include <ovnitrace/control.h>
#include <ovnitrace/ftrace_codes.h>

#include <algorithm>
#include <set>

namespace ovnitrace {
namespace {

using test::CollectingRows;
using test::CollectingSink;
using test::Timeline;

/// Two hosts with two CPUs and two threads each: threads 0 and 1 on the first, 2 and 3 on the
/// second. Processes and threads have the same numbers on both: process 10 with its thread 10, and
/// process 20 with thread 20.
struct ModelEdges : ::testing::Test {
  ModelEdges() : catalog(two_hosts()), replay(catalog, builtin_models(), {}, sink, 100) {}

  static Catalog two_hosts() {
    Catalog catalog;
    catalog.hosts = {{"one"}, {"two"}};
    catalog.files = {"cpu0000.ftr"};
    for (uint32_t host : {0, 1})
      for (uint32_t n : {0, 1}) {
        catalog.cpus.push_back({n, host});
        catalog.threads.push_back(
            {.tid = 10 + 10 * n, .pid = 10 + 10 * n, .host = host, .name = "t"});
      }
    return catalog;
  }
  ModelEdges &at(uint64_t time, uint32_t code, uint32_t thread, uint32_t cpu, uint32_t par2 = 0,
                 uint16_t par1 = 0, uint32_t peer = kNone) {
    if (time != now)
      replay.emit(now, threads, cpus);
    now = time;
    replay.handle({.time = time,
                   .kind = code,
                   .thread = thread,
                   .cpu = cpu,
                   .peer = peer,
                   .par2 = par2,
                   .par1 = par1});
    return *this;
  }
  void flush() { replay.emit(now, threads, cpus); }
  ThreadState state(uint32_t thread) { return replay.system().threads()[thread].state; }

  CollectingSink sink;
  CollectingRows threads, cpus;
  Catalog catalog;
  Replay replay;
  uint64_t now = 0;
};

TEST_F(ModelEdges, ProcessesOfTwoHostsWithOneNumberAreTwo) {
  at(1, FTrace_EVT_task_dispatch, 0, 0).at(2, FTrace_EVT_task_dispatch, 2, 2).flush();
  EXPECT_EQ(cpus.values(0, 5), (std::vector<int64_t>{1}));
  EXPECT_EQ(cpus.values(2, 5), (std::vector<int64_t>{3}));
}

TEST_F(ModelEdges, EnableActsOnItsOwnProcessOnItsOwnHostOnly) {
  at(1, FTrace_EXT_enable, 0, 0).flush();
  EXPECT_EQ(threads.values(0, 13), (std::vector<int64_t>{1}));
  for (uint32_t other : {1, 2, 3})
    EXPECT_TRUE(threads.timeline(other, 13).empty()) << other;
}

TEST_F(ModelEdges, AFilterOfOneHostHidesNothingOfTheOther) {
  for (uint32_t cpu : {0, 1, 2}) {
    at(1, FTrace_EVT_interrupt_start, kNone, cpu, 0, 5);
    at(1, FTrace_EVT_timer_wakeup_start, kNone, cpu, 1);
  }
  for (uint32_t thread : {0, 2}) {
    at(2, FTrace_EVT_mutex_wait, thread, thread, 0x1000);
    at(2, FTrace_EVT_server_active, thread, thread, 77);
  }
  for (uint32_t code :
       {FTrace_filter_interrupt, FTrace_filter_timer, FTrace_filter_mutex, FTrace_filter_server})
    at(5, code, kNone, 0, 0, 1);
  flush();
  for (uint32_t cpu : {0, 1, 2}) {
    EXPECT_EQ(cpus.values(cpu, 400).back(), cpu < 2 ? 0 : 6) << cpu;
    EXPECT_EQ(cpus.values(cpu, 444).back(), cpu < 2 ? 0 : 2) << cpu;
  }
  EXPECT_EQ(threads.values(0, 430).back(), 0);
  EXPECT_EQ(threads.values(2, 430).back(), 0x1001);
  EXPECT_EQ(threads.values(0, 450).back(), 0);
  EXPECT_EQ(threads.values(2, 450).back(), 1);
}

TEST_F(ModelEdges, ALossOnOneHostHidesNoStateOfTheOther) {
  for (uint32_t thread : {0, 1, 2, 3})
    at(1, FTrace_EVT_task_dispatch, thread, thread);
  at(2, FTrace_EVT_task_sleep, 1, 1).at(2, FTrace_EVT_task_sleep, 3, 3);
  at(5, FTrace_EVT_blackout_start, kNone, 0);
  EXPECT_EQ(state(0), ThreadState::Unknown);
  EXPECT_EQ(state(1), ThreadState::Unknown);
  EXPECT_EQ(state(2), ThreadState::Running);
  EXPECT_EQ(state(3), ThreadState::Paused);
  at(6, FTrace_EVT_task_activate, 1, 1).at(6, FTrace_EVT_task_activate, 3, 3);
  EXPECT_EQ(state(1), ThreadState::Unknown) << "it may run on the CPU whose events are lost";
  EXPECT_EQ(state(3), ThreadState::Warming);
  at(7, FTrace_EVT_blackout_start, kNone, 2, 0, FTRACE_BLACKOUT_FORGOTTEN);
  EXPECT_EQ(state(3), ThreadState::Unknown);
  at(8, FTrace_EVT_blackout_end, kNone, 0, 3).at(8, FTrace_EVT_task_activate, 1, 1);
  EXPECT_EQ(state(1), ThreadState::Warming) << "the other host's blackout goes on";
}

TEST_F(ModelEdges, ALossOnOneHostEndsNoSectionOfTheOther) {
  for (uint32_t thread : {0, 2})
    at(1, FTrace_EVT_user_event_13, thread, thread, 7);
  at(5, FTrace_EVT_blackout_start, kNone, 1, 0, FTRACE_BLACKOUT_FAMILIES);
  at(6, FTrace_EVT_blackout_end, kNone, 1, 2, FTRACE_BLACKOUT_FAMILIES).flush();
  EXPECT_EQ(threads.timeline(0, 316), (Timeline{{1, 7}, {5, 0}}));
  EXPECT_EQ(threads.timeline(2, 316), (Timeline{{1, 7}}));
}

TEST_F(ModelEdges, AnEventOfNoThreadIsAFaultDuringALossOnAnotherHost) {
  at(1, FTrace_EVT_blackout_start, kNone, 0).at(2, FTrace_EVT_user_event_0, kNone, 1, 9);
  EXPECT_EQ(replay.faults().count(), 0u) << "its dispatch may be lost";
  at(3, FTrace_EVT_user_event_0, kNone, 2, 9);
  EXPECT_EQ(replay.faults().count(), 1u);
}

TEST_F(ModelEdges, AThreadIsKnownAgainIfItsReturnToTheFiltersIsLost) {
  constexpr uint32_t kLeaves = uint32_t(ThreadState::Unknown);
  at(1, FTrace_EVT_task_dispatch, 0, 0).at(3, FTrace_EXT_snapshot, 0, 0, kLeaves);
  at(4, FTrace_EVT_blackout_start, kNone, 2).at(4, FTrace_EVT_blackout_end, kNone, 2, 1);
  at(4, FTrace_EVT_task_sleep, 0, 1);
  EXPECT_EQ(state(0), ThreadState::Unknown)
      << "logged before, and late; the loss is of another host";
  at(5, FTrace_EVT_blackout_start, kNone, 0).at(6, FTrace_EVT_blackout_end, kNone, 0, 1);
  at(7, FTrace_EVT_task_sleep, 0, 0);
  EXPECT_EQ(state(0), ThreadState::Paused);
}

TEST_F(ModelEdges, ExecEndsNoThreadThatIsBornLaterWithTheSameTid) {
  catalog.threads[1] = {.tid = 15, .pid = 10, .birth = 1, .name = "old"};
  catalog.threads.push_back({.tid = 15, .pid = 10, .birth = 4, .name = "later"});
  Replay exec(catalog, builtin_models(), {}, sink, 100);
  const auto handle = [&](uint64_t time, uint32_t code, uint32_t thread, uint32_t par2) {
    exec.handle({.time = time, .kind = code, .thread = thread, .cpu = 0, .par2 = par2});
  };
  handle(1, FTrace_EVT_task_dispatch, 1, 0);
  handle(3, FTrace_EXT_exec, 0, 15);
  EXPECT_EQ(exec.system().threads()[1].state, ThreadState::Dead);
  EXPECT_EQ(exec.system().threads()[4].state, ThreadState::Unknown);
  EXPECT_EQ(exec.faults().count(), 0u);
}

/// A thread waits for a mutex and has a budget. Then it is not recorded any more.
TEST_F(ModelEdges, AThreadThatIsNotRecordedWaitsForNoMutexAndHasNoBudget) {
  constexpr uint32_t kStop = CONTROL_STOP << FTRACE_REGION_EVENT_SHIFT | 1;
  for (uint32_t thread : {0, 1}) {
    at(1, FTrace_EVT_task_dispatch, thread, thread).at(2, FTrace_EVT_server_active, thread, 0, 77);
    at(2, FTrace_EVT_mutex_wait, thread, thread, 0x1000);
  }
  at(5, FTrace_EXT_region, 0, 0, kStop).at(6, FTrace_EXT_snapshot, 1, 1).flush();
  for (uint32_t thread : {0, 1}) {
    const uint64_t end = 5 + thread;
    EXPECT_EQ(threads.timeline(thread, 430), (Timeline{{2, 0x1001}, {end, 0}}));
    EXPECT_EQ(threads.timeline(thread, 450), (Timeline{{2, 1}, {end, 0}}));
    at(10 + thread, FTrace_EVT_task_dispatch, thread, thread).flush();
    EXPECT_EQ(threads.values(thread, 451), (std::vector<int64_t>{77, 0}));
  }
}

TEST_F(ModelEdges, AFilterThatIsSwitchedOffHidesNothing) {
  at(1, FTrace_EVT_interrupt_start, kNone, 0, 0, 5);
  at(1, FTrace_EVT_timer_wakeup_start, kNone, 0, 1);
  at(1, FTrace_EVT_mutex_wait, 0, 0, 0x1000).at(1, FTrace_EVT_server_active, 0, 0, 77);
  for (uint32_t code :
       {FTrace_filter_interrupt, FTrace_filter_timer, FTrace_filter_mutex, FTrace_filter_server})
    at(5, code, kNone, 0, 0, 0);
  flush();
  EXPECT_EQ(cpus.timeline(0, 400), (Timeline{{1, 6}}));
  EXPECT_EQ(cpus.timeline(0, 444), (Timeline{{1, 2}}));
  EXPECT_EQ(threads.timeline(0, 430), (Timeline{{1, 0x1001}}));
  EXPECT_EQ(threads.timeline(0, 450), (Timeline{{1, 1}}));
}

TEST_F(ModelEdges, WhatHappensOnNoCpuIsOnNoRow) {
  at(1, FTrace_EVT_interrupt_start, kNone, 0, 0, 5).flush();
  for (uint32_t code :
       {FTrace_EVT_interrupt_start, FTrace_EVT_interrupt_end, FTrace_EVT_interrupt_hit,
        FTrace_EVT_interrupt_count, FTrace_EVT_timer_wakeup_start, FTrace_EVT_timer_wakeup_end,
        FTrace_EVT_blackout_start, FTrace_EVT_blackout_end, FTrace_EVT_to_real_mode, FTrace_EVT_CLI,
        FTrace_EVT_data_pointer, FTrace_EVT_server_create, FTrace_EVT_server_using_rec,
        FTrace_EXT_idle_start, FTrace_EXT_idle_end, FTrace_EXT_frequency, FTrace_EXT_steal,
        FTrace_EXT_mark})
    at(5, code, kNone, kNone, 3, 5);
  flush();
  EXPECT_EQ(cpus.timeline(0, 400), (Timeline{{1, 6}}));
  for (uint32_t cpu : {0, 1, 2, 3})
    for (int type : {400, 401, 402, 444, 10, 14, 453, 455, 470, 471, 473, 500, 501, 502})
      EXPECT_EQ(cpus.timeline(cpu, type).size(), cpu == 0 && type == 400 ? 1u : 0u)
          << cpu << " " << type;
}

TEST_F(ModelEdges, ExecEndsNoThreadOfAnotherProcess) {
  at(1, FTrace_EVT_task_dispatch, 1, 1).at(2, FTrace_EVT_task_dispatch, 0, 0);
  at(3, FTrace_EXT_exec, 0, 0, 20);
  EXPECT_EQ(state(1), ThreadState::Running);
  EXPECT_EQ(replay.faults().count(), 1u);
}

TEST_F(ModelEdges, AThreadThatWakesItselfDrawsNoArrow) {
  at(1, FTrace_EVT_task_sleep, 0, 0).at(2, FTrace_EVT_task_activate, 0, 0, 10, 0, 0).flush();
  EXPECT_EQ(threads.values(0, 220), (std::vector<int64_t>{10}));
  EXPECT_TRUE(threads.arrows.empty());
}

TEST_F(ModelEdges, AWakeupBeforeABlackoutHasNoLatency) {
  at(1, FTrace_EVT_task_sleep, 0, 0).at(2, FTrace_EVT_task_activate, 0, 0, 20, 0, 1);
  at(5, FTrace_EVT_blackout_start, kNone, 0).at(9, FTrace_EVT_blackout_end, kNone, 0, 3);
  at(20, FTrace_EVT_task_dispatch, 0, 0).flush();
  for (int64_t latency : threads.values(0, 222))
    EXPECT_EQ(latency, 0);
}

/// The thread is not known from 5 to 9, and waits again then: since when is not known.
TEST_F(ModelEdges, AWakeupBeforeATimeThatWasNotSeenHasNoLatency) {
  constexpr uint32_t kWarming = uint32_t(ThreadState::Warming);
  for (uint32_t given : {FTrace_EXT_snapshot, FTrace_EXT_state}) {
    at(now + 1, FTrace_EVT_task_dispatch, 0, 0).at(now + 1, FTrace_EVT_task_sleep, 0, 0);
    at(now + 1, FTrace_EVT_task_activate, 0, 0, 20, 0, 1);
    if (given == FTrace_EXT_snapshot)
      at(now + 3, FTrace_EXT_snapshot, 0, 0);
    else
      at(now + 3, FTrace_EVT_blackout_start, kNone, 0).at(now, FTrace_EVT_blackout_end, kNone, 0);
    at(now + 4, given, 0, 0, kWarming).at(now + 9, FTrace_EVT_task_dispatch, 0, 0).flush();
    EXPECT_EQ(state(0), ThreadState::Running);
    EXPECT_TRUE(threads.timeline(0, 222).empty()) << given;
  }
  at(now + 1, FTrace_EVT_task_sleep, 0, 0).at(now + 1, FTrace_EVT_task_activate, 0, 0, 20, 0, 1);
  at(now + 5, FTrace_EVT_task_dispatch, 0, 0).flush();
  EXPECT_EQ(threads.values(0, 222), (std::vector<int64_t>{5}));
}

TEST_F(ModelEdges, EventsThatAFlightRecorderForgotAreNotLost) {
  at(5, FTrace_EVT_blackout_start, kNone, 0, 0, FTRACE_BLACKOUT_FORGOTTEN);
  at(9, FTrace_EVT_blackout_end, kNone, 0, 1000, FTRACE_BLACKOUT_FORGOTTEN).flush();
  EXPECT_EQ(cpus.timeline(0, 10), (Timeline{{5, 1}, {9, 0}}));
  EXPECT_TRUE(cpus.timeline(0, 11).empty());
}

TEST_F(ModelEdges, TheEndOfAWaitThatWasNotSeenNamesItsMutex) {
  at(5, FTrace_EVT_mutex_lock, 0, 0, 0x1000 | FTRACE_FUTEX_PLAIN).flush();
  EXPECT_EQ(threads.timeline(0, 432), (Timeline{{4, 0x1001}, {5, 0}}));
}

TEST_F(ModelEdges, ATimerThatIsNotLateShowsNoLateness) {
  at(5, FTrace_EVT_timer_wakeup_start, 0, 0, FTRACE_TIMER_SLEEP).flush();
  EXPECT_EQ(threads.timeline(0, 442), (Timeline{{4, 2}, {5, 0}}));
  EXPECT_TRUE(threads.timeline(0, 443).empty());
}

TEST_F(ModelEdges, AnOverrunOf0IsVisible) {
  at(5, FTrace_EVT_server_exhaust, 0, 0, 0).flush();
  EXPECT_EQ(threads.timeline(0, 452), (Timeline{{4, 1}, {5, 0}}));
}

TEST_F(ModelEdges, ARemovedServerHasNoBudget) {
  at(1, FTrace_EVT_task_dispatch, 0, 0).at(5, FTrace_EVT_server_active, 0, 0, 77);
  at(6, FTrace_EVT_server_remove, 0, 0).flush();
  EXPECT_EQ(threads.timeline(0, 450), (Timeline{{5, 1}, {6, 0}}));
  EXPECT_EQ(threads.timeline(0, 451), (Timeline{{5, 77}, {6, 0}}));
}

// Hardware nests no more; what a damaged trace nests deeper is not shown, and takes no memory.
TEST_F(ModelEdges, InterruptsNestSixteenDeep) {
  for (uint16_t irq = 1; irq <= 17; irq++)
    at(10u + irq, FTrace_EVT_interrupt_start, kNone, 0, 0, irq);
  flush();
  EXPECT_EQ(cpus.timeline(0, 400).back(), (std::pair<uint64_t, int64_t>{26, 17}));
}

/// What Paraver shows of a value, by hand.
TEST(ModelLabels, AreThese) {
  const struct {
    uint32_t type;
    int64_t value;
    const char *label;
  } labels[] = {
      {4, 0, "Unknown"},
      {4, 3, "Dead"},
      {4, 4, "Cooling"},
      {7, 1, "Flushing"},
      {10, 1, "Blackout"},
      {10, 2, "Paused by ovnitrace ctl"},
      {12, 1, "Blackout"},
      {13, 1, "Enabled"},
      {13, 2, "Disabled"},
      {45, 3, "Context switch: Out of the CPU"},
      {200, 1, "Yielded"},
      {200, 2, "Preempted"},
      {200, 9, "Idle kernel thread"},
      {202, 1, "Deadline"},
      {202, 2, "Real time 99"},
      {202, 100, "Real time 1"},
      {202, 101, "none"},
      {202, 102, "Nice -20"},
      {202, 122, "Nice 0"},
      {202, 141, "Nice 19"},
      {202, 142, "none"},
      {221, 1, "Thread"},
      {221, 5, "Unknown"},
      {400, 1, "IRQ 0"},
      {400, 256, "IRQ 255"},
      {400, 257, "none"},
      {400, 0x40ed, "Timer of the CPU"},
      {400, 0x40f7, "IRQ work"},
      {400, 0x40fc, "Function call from a CPU"},
      {400, 0x40fd, "Function call from CPUs"},
      {400, 0x40fe, "Reschedule"},
      {400, 0x8001, "Soft: high tasklets"},
      {400, 0x800a, "Soft: RCU"},
      {401, 0x8004, "Soft: network receive"},
      {410, 9, "SIGKILL"},
      {411, 31, "SIGSYS"},
      {411, 32, "Real-time signal 32"},
      {411, 34, "Real-time signal 34"},
      {411, 64, "Real-time signal 64"},
      {411, 65, "none"},
      {412, 1, "Signal"},
      {420, 141, "Nice 19"},
      {420, 255, "Not known"},
      {421, 2, "FIFO"},
      {421, 7, "Deadline"},
      {431, 1, "Creates"},
      {431, 2, "Locks"},
      {431, 3, "Unlocks"},
      {431, 4, "Posts"},
      {431, 5, "Inherits"},
      {431, 6, "Has waited"},
      {431, 7, "Gives up"},
      {440, 2, "Sleep or timeout"},
      {444, 5, "Timer of a descriptor"},
      {450, 1, "Has budget"},
      {450, 2, "Exhausted: throttled"},
      {450, 3, "Yielded: waits for its next period"},
      {450, 4, "Reclaiming"},
      {453, 1, "Create"},
      {453, 2, "Replenish"},
      {453, 3, "Exhaust"},
      {453, 4, "Reclaiming"},
      {453, 5, "Remove"},
      {453, 6, "Active"},
      {453, 7, "Uses reclaimed time"},
      {462, 1, "Deadline miss"},
      {463, 1, "WCET violation"},
      {470, 1, "Real"},
      {470, 2, "Protected"},
      {471, 1, "Off"},
      {472, 8, "Only interrupt"},
  };
  const std::vector<Model> models = builtin_models();
  for (const auto &expected : labels) {
    std::string found = "none";
    for (const Model &model : models)
      for (const ChannelDef &def : model.channels)
        for (const ValueLabel &label : def.values)
          if ((def.thread_type == expected.type || def.cpu_type == expected.type) &&
              label.value == expected.value)
            found = label.label;
    EXPECT_EQ(found, expected.label) << expected.type << " " << expected.value;
  }
}

TEST(ModelColours, WhatMustNotHappenIsAlarming) {
  std::set<uint32_t> alarming;
  for (const Model &model : builtin_models())
    for (const ChannelDef &def : model.channels)
      for (const ValueColor &color : def.colors)
        if (color.value == 1 && color.color == palette::kAlarm)
          alarming.insert(std::max(def.thread_type, def.cpu_type));
  EXPECT_EQ(alarming, (std::set<uint32_t>{10, 12, 462, 463}));
}

} // namespace
} // namespace ovnitrace
