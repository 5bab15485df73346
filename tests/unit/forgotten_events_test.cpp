// SPDX-License-Identifier: BSD-2-Clause
// What each event of an evicted chunk says about the state of its thread:
// user/chunk/forgotten_fold.
#include "tests/unit/support/trace_builder.h"
#include "user/chunk/forgotten_states.h"

#include <ovnitrace/control.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace ovnitrace {
namespace {

using test::ChunkBuilder;
using Lines = std::vector<std::string>;

class ForgottenEvents : public testing::Test {
protected:
  static Chunk chunk(uint16_t cpu, const ChunkBuilder &builder) {
    return {cpu, ChunkBuilder(builder).records()};
  }
  void fold(uint16_t cpu, const ChunkBuilder &builder) { states_.fold(chunk(cpu, builder)); }

  /// "20 thread 7 Paused cpu 1 reason 3 call 53" for each state, in this order.
  Lines remembered(uint64_t begin = 1000, const ForgottenStates::Chunks &kept = {}) const {
    Lines lines;
    for (const auto &of_cpu : states_.remembered(begin, kept).states) {
      std::map<uint16_t, uint32_t> tids; // by context
      for (const SmallEvent &event : of_cpu)
        if (event.code == FTrace_EVT_id)
          tids[event.par1] = event.par2;
        else if (code_of(event.code) == FTrace_EXT_state)
          lines.push_back(line(event, tids.at(event.par1)));
    }
    std::sort(lines.begin(), lines.end());
    return lines;
  }

  ForgottenStates states_{3};

private:
  static std::string line(const SmallEvent &event, uint32_t tid) {
    const uint32_t cpu = event.par2 >> FTRACE_SNAPSHOT_CPU_SHIFT & 0xffff;
    std::string text =
        fmt::format("{} thread {} {}", event.time, tid, name(ThreadState(event.par2 & 0xff)));
    if (cpu != FTRACE_SNAPSHOT_NO_CPU)
      text += fmt::format(" cpu {}", cpu);
    if (const uint32_t reason = event.par2 >> FTRACE_REASON_SHIFT & 15)
      text += fmt::format(" reason {}", reason);
    if (const uint32_t call = (event.code >> 8) << 4 | event.par2 >> 28)
      text += fmt::format(" call {}", call);
    return text;
  }
};

TEST_F(ForgottenEvents, EachTransitionPutsItsThreadIntoAState) {
  ChunkBuilder events(1);
  events.at(20).id(1, 11, 5, "a").dispatch(1);
  events.at(21).id(2, 12, 5, "b").epilogue(2);
  events.at(22).id(3, 13, 5, "c").sleep(3, 0, FTRACE_OFFCPU_DISK);
  events.at(23).id(4, 14, 5, "d").create(4, 14);
  events.at(24).id(5, 15, 5, "e").dispatch(5).at(25).end(5);
  events.at(26).id(6, 16, 5, "f"); // nothing is known of it
  fold(1, events);
  EXPECT_EQ(remembered(20),
            (Lines{"20 thread 11 Running cpu 1", "21 thread 12 Cooling cpu 1 reason 1",
                   "22 thread 13 Paused cpu 1 reason 3", "23 thread 14 Unknown"}));
  EXPECT_EQ(remembered(22),
            (Lines{"22 thread 11 Running cpu 1", "22 thread 12 Cooling cpu 1 reason 1",
                   "22 thread 13 Paused cpu 1 reason 3", "23 thread 14 Unknown"}))
      << "not before the begin";
}

TEST_F(ForgottenEvents, ASwitchPutsBothThreads) {
  ChunkBuilder events(2);
  events.at(10).id(1, 11, 5, "a").id(2, 12, 5, "b").id(3, 13, 5, "c").id(4, 14, 5, "d");
  events.at(20).record(FTrace_EXT_switch | FTRACE_CALL_CODE(0x123), 1,
                       2 | FTRACE_OFFCPU_DISK << FTRACE_REASON_SHIFT | FTRACE_CALL_PAR2(0x123));
  events.at(30).record(FTrace_EXT_switch, 2, 3 | FTRACE_OFFCPU_PREEMPTED << FTRACE_REASON_SHIFT);
  events.at(40).record(FTrace_EXT_wake_switch | FTRACE_CALL_CODE(0x45), 3,
                       4 | 7 << FTRACE_WAKE_SWITCH_TICKS_SHIFT |
                           FTRACE_OFFCPU_SLEEP << FTRACE_REASON_SHIFT | FTRACE_CALL_PAR2(0x45));
  fold(2, events);
  EXPECT_EQ(remembered(), (Lines{"1000 thread 11 Paused cpu 2 reason 3 call 291",
                                 "1000 thread 12 Cooling cpu 2 reason 1",
                                 "1000 thread 13 Paused cpu 2 reason 2 call 69",
                                 "1000 thread 14 Running cpu 2"}));
}

TEST_F(ForgottenEvents, AWakeupEndsABlockedStateOnly) {
  ChunkBuilder events(0);
  events.at(10).id(1, 11, 5, "blocked").id(2, 12, 5, "woken before").id(3, 13, 5, "runs");
  events.record(FTrace_EVT_task_sleep | FTRACE_CALL_CODE(0x123), 1,
                FTRACE_OFFCPU_SLEEP << FTRACE_REASON_SHIFT | FTRACE_CALL_PAR2(0x123));
  events.at(20).activate(1).activate(2).dispatch(3);
  events.at(30).activate(3);
  events.record(FTrace_EVT_task_sleep | FTRACE_CALL_CODE(0x123), 2,
                FTRACE_OFFCPU_DISK << FTRACE_REASON_SHIFT | FTRACE_CALL_PAR2(0x123));
  fold(0, events);
  ChunkBuilder older(1);
  older.at(5).id(1, 11, 5, "blocked").activate(1);
  fold(1, older);
  EXPECT_EQ(remembered(),
            (Lines{"1000 thread 11 Warming cpu 0", "1000 thread 12 Paused cpu 0 reason 3 call 291",
                   "1000 thread 13 Running cpu 0"}));
}

// Events of one ns are in the order of a reader: by CPU, then as in the file.
TEST_F(ForgottenEvents, EventsOfOneInstantHaveAnOrder) {
  ChunkBuilder first(0), second(0), other(1);
  first.at(10).id(1, 11, 5, "a").id(2, 12, 5, "b").id(3, 13, 5, "c");
  first.dispatch(3).dispatch(3).dispatch(3).sleep(1).sleep(2); // longer than the second chunk
  second.at(10).id(1, 11, 5, "a").activate(1).id(4, 14, 5, "d").activate(4);
  other.at(10).id(1, 12, 5, "b").activate(1).id(2, 14, 5, "d").sleep(2);
  fold(0, first);
  fold(1, other);
  fold(0, second);
  EXPECT_EQ(remembered(),
            (Lines{"1000 thread 11 Warming cpu 0", "1000 thread 12 Warming cpu 0",
                   "1000 thread 13 Running cpu 0", "1000 thread 14 Paused cpu 1 reason 2"}));
}

// What another CPU kept may be between the two events.
TEST_F(ForgottenEvents, AWakeupWithinWhatIsKeptSaysNothing) {
  ChunkBuilder events(0);
  events.at(10).id(1, 11, 5, "a").sleep(1).at(20).activate(1);
  fold(0, events);
  EXPECT_EQ(remembered(19), Lines{"20 thread 11 Unknown"});
  EXPECT_EQ(remembered(20), Lines{"20 thread 11 Warming cpu 0"});
}

TEST_F(ForgottenEvents, AMigrationMovesAThreadThatDoesNotRun) {
  ChunkBuilder events(0);
  events.at(10).id(1, 11, 5, "a").sleep(1).id(2, 12, 5, "b").dispatch(2);
  events.id(3, 13, 5, "c").migrate(3, 2);
  events.at(20).migrate(1, 1).migrate(2, 1).sleep(3);
  fold(0, events);
  ChunkBuilder older(1);
  older.at(15).id(1, 11, 5, "a").migrate(1, 0);
  fold(1, older);
  EXPECT_EQ(remembered(),
            (Lines{"1000 thread 11 Paused cpu 1 reason 2", "1000 thread 12 Running cpu 0",
                   "1000 thread 13 Paused cpu 0 reason 2"}));
}

TEST_F(ForgottenEvents, ARefillEndsAThrottlingBeforeIt) {
  ChunkBuilder events(0);
  events.at(10).id(1, 11, 5, "a").epilogue(1, 0, FTRACE_OFFCPU_THROTTLED);
  events.id(2, 12, 5, "b").record(FTrace_EXT_refill, 2);
  events.id(3, 13, 5, "c").epilogue(3);
  events.at(20).record(FTrace_EXT_refill, 1).record(FTrace_EXT_refill, 3);
  events.epilogue(2, 0, FTRACE_OFFCPU_THROTTLED);
  fold(0, events);
  ChunkBuilder older(1);
  older.at(5).id(1, 11, 5, "a").record(FTrace_EXT_refill, 1);
  fold(1, older);
  EXPECT_EQ(remembered(), (Lines{"1000 thread 11 Cooling cpu 0 reason 10",
                                 "1000 thread 12 Cooling cpu 0 reason 9",
                                 "1000 thread 13 Cooling cpu 0 reason 1"}));
}

TEST_F(ForgottenEvents, ASnapshotSaysLessThanAnyEvent) {
  const uint32_t paused = uint32_t(ThreadState::Paused);
  ChunkBuilder events(0);
  events.at(50)
      .id(1, 11, 5, "a")
      .record(FTrace_EXT_snapshot | FTRACE_CALL_CODE(0x125), 1,
              paused | 2 << FTRACE_SNAPSHOT_CPU_SHIFT |
                  FTRACE_OFFCPU_STOPPED << FTRACE_REASON_SHIFT | FTRACE_CALL_PAR2(0x125));
  const uint16_t unrecorded = 7; // a CPU
  events.id(6, 16, 5, "f").snapshot(6, uint32_t(ThreadState::Running), unrecorded);
  events.id(2, 12, 5, "b").snapshot(2, paused, 2).id(3, 13, 5, "c").dispatch(3);
  events.id(4, 14, 5, "d").snapshot(4, kThreadStates, 2).id(5, 15, 5, "e").snapshot(5, paused, 1);
  events.at(60).snapshot(3, paused, 2);
  fold(0, events);
  ChunkBuilder older(1);
  older.at(20).id(2, 12, 5, "b").dispatch(2).id(5, 15, 5, "e").activate(5);
  fold(1, older);
  EXPECT_EQ(remembered(), (Lines{"1000 thread 11 Paused cpu 2 reason 4 call 293",
                                 "1000 thread 12 Running cpu 1", "1000 thread 13 Running cpu 0",
                                 "1000 thread 15 Warming cpu 1", "1000 thread 16 Running cpu 7"}));
}

// The thread may have been moved again while events were lost.
TEST_F(ForgottenEvents, AMigrationBeforeALossIsNotInASnapshotAfterIt) {
  ChunkBuilder events(0);
  events.at(5).id(1, 11, 5, "a").migrate(1, 2).at(8).blackout_start().at(10).blackout_end(3);
  events.at(20).snapshot(1, uint32_t(ThreadState::Paused), 1);
  fold(0, events);
  EXPECT_EQ(remembered(), Lines{"1000 thread 11 Paused cpu 1"});
  ChunkBuilder later(0);
  later.at(30).id(1, 11, 5, "a").migrate(1, 0);
  fold(0, later);
  EXPECT_EQ(remembered(), Lines{"1000 thread 11 Paused cpu 0"});
}

// One that does not pass the filters for a time.
TEST_F(ForgottenEvents, ASnapshotOfAnUnknownStateReplacesEvents) {
  ChunkBuilder events(0);
  events.at(10).id(1, 11, 5, "a").dispatch(1).at(20);
  events.snapshot(1, uint32_t(ThreadState::Unknown), FTRACE_SNAPSHOT_NO_CPU);
  fold(0, events);
  EXPECT_EQ(remembered(), Lines{"1000 thread 11 Unknown"});
  ChunkBuilder passes(0);
  passes.at(30).id(1, 11, 5, "a").snapshot(1, uint32_t(ThreadState::Paused), 1);
  fold(0, passes);
  EXPECT_EQ(remembered(), Lines{"1000 thread 11 Paused cpu 1"});
}

TEST_F(ForgottenEvents, AnExecOfAnotherThreadEndsThatOneAndRunsTheMainOne) {
  ChunkBuilder events(1);
  events.at(10).id(1, 5, 5, "main").sleep(1).id(2, 11, 5, "thread").dispatch(2);
  events.id(3, 12, 6, "other process").sleep(3);
  events.at(20).record(FTrace_EXT_exec, 1, 11);
  events.id(4, 6, 6, "main").sleep(4);
  events.at(30).record(FTrace_EXT_exec, 4, 6); // by the main thread itself
  events.id(5, 7, 7, "main").sleep(5);
  events.at(40).record(FTrace_EXT_exec, 5, 12);
  fold(1, events);
  EXPECT_EQ(remembered(),
            (Lines{"1000 thread 12 Paused cpu 1 reason 2", "1000 thread 5 Running cpu 1",
                   "1000 thread 6 Paused cpu 1 reason 2", "1000 thread 7 Running cpu 1"}));
}

TEST_F(ForgottenEvents, TheStopOfARegionHidesItsThreadsOnly) {
  ChunkBuilder threads(0);
  threads.at(10).id(1, 11, 5, "a").sleep(1).id(2, 12, 5, "b").sleep(2).id(3, 13, 6, "c").sleep(3);
  const auto after = [&](uint32_t event) {
    ChunkBuilder events = threads;
    events.at(20).record(FTrace_EXT_region, 1, event);
    states_ = ForgottenStates(3);
    fold(0, events);
    Lines lines;
    for (const std::string &line : remembered())
      lines.push_back(line.substr(line.find("thread")));
    return lines;
  };
  const std::string a = "thread 11 Paused cpu 0 reason 2", b = "thread 12 Paused cpu 0 reason 2",
                    c = "thread 13 Paused cpu 0 reason 2";
  const uint32_t stop = CONTROL_STOP << FTRACE_REGION_EVENT_SHIFT;
  EXPECT_EQ(after(CONTROL_START << FTRACE_REGION_EVENT_SHIFT), (Lines{a, b, c}));
  EXPECT_EQ(after(stop), (Lines{"thread 11 Unknown", "thread 12 Unknown", c}));
  EXPECT_EQ(after(stop | FTRACE_REGION_THREAD), (Lines{"thread 11 Unknown", b, c}));
}

TEST_F(ForgottenEvents, WhatALossMayHaveChangedIsNotKnown) {
  ChunkBuilder here(0);
  here.at(10).id(1, 11, 5, "runs").dispatch(1).id(2, 12, 5, "sleeps").sleep(2);
  fold(0, here);
  ChunkBuilder there(1);
  there.at(20).record(FTrace_EVT_blackout_start, FTRACE_BLACKOUT_TRANSITIONS);
  there.at(30).record(FTrace_EVT_blackout_end, FTRACE_BLACKOUT_TRANSITIONS);
  there.at(31).id(1, 13, 5, "later").sleep(1);
  fold(1, there);
  EXPECT_EQ(remembered(),
            (Lines{"1000 thread 11 Running cpu 0", "1000 thread 13 Paused cpu 1 reason 2"}));
}

TEST_F(ForgottenEvents, BlackoutsThatHaveNotEndedGoOn) {
  using Kinds = std::vector<ftrace_blackout>;
  const auto unfinished = [this] { return states_.remembered(1000, {}).unfinished; };
  ChunkBuilder started(1);
  for (const auto what : {FTRACE_BLACKOUT_PAUSED, FTRACE_BLACKOUT_FAMILIES,
                          FTRACE_BLACKOUT_SOMEWHERE, FTRACE_BLACKOUT_TRANSITIONS})
    started.at(10).record(FTrace_EVT_blackout_start, what);
  fold(1, started);
  const Kinds all = {FTRACE_BLACKOUT_TRANSITIONS, FTRACE_BLACKOUT_SOMEWHERE,
                     FTRACE_BLACKOUT_FAMILIES, FTRACE_BLACKOUT_PAUSED};
  EXPECT_EQ(unfinished(), (std::vector<Kinds>{{}, all, {}}));
  ChunkBuilder ended(1);
  ended.at(20).record(FTrace_EVT_blackout_end, FTRACE_BLACKOUT_SOMEWHERE);
  fold(1, ended);
  EXPECT_EQ(unfinished()[1],
            (Kinds{FTRACE_BLACKOUT_TRANSITIONS, FTRACE_BLACKOUT_FAMILIES, FTRACE_BLACKOUT_PAUSED}));
}

// A context has 16 bits.
TEST_F(ForgottenEvents, ACpuNamesAsManyThreadsAsThereAreContexts) {
  constexpr uint16_t kHalf = 32768;
  for (uint32_t half = 0; half < 2; half++) {
    ChunkBuilder events(0);
    events.at(10);
    for (uint16_t n = 1; n <= kHalf; n++)
      events.id(n, half * kHalf + n, 5, "t").sleep(n);
    fold(0, events);
  }
  std::set<uint16_t> contexts;
  const ForgottenStates::Remembered known = states_.remembered(1000, {});
  for (const SmallEvent &event : known.states[0])
    if (event.code == FTrace_EXT_state) {
      EXPECT_TRUE(contexts.insert(event.par1).second) << event.par1;
    }
  EXPECT_EQ(contexts.size(), 65535u);
  EXPECT_FALSE(contexts.contains(0)) << "it means no thread";
}

TEST_F(ForgottenEvents, ATidUsedAgainIsTheYoungerThread) {
  ChunkBuilder older(0);
  older.at(10).id(1, 11, 5, "old", 3).dispatch(1);
  fold(0, older);
  ChunkBuilder younger(1);
  younger.at(20).id(1, 11, 5, "young", 15);
  fold(1, younger);
  EXPECT_EQ(remembered(), Lines{}) << "nothing is known of the younger one yet";
  ChunkBuilder late(2);
  late.at(12).id(1, 11, 5, "old", 3).sleep(1).at(30).id(2, 11, 5, "young", 15).sleep(2);
  fold(2, late);
  EXPECT_EQ(remembered(), Lines{"1000 thread 11 Paused cpu 2 reason 2"});
}

// Threads that are kept whole were in an unknown state at the begin.
TEST_F(ForgottenEvents, AThreadOfWhichNothingIsForgottenHasNoStateBefore) {
  ChunkBuilder gone(1);
  gone.at(10).id(1, 11, 5, "a", 3).dispatch(1);
  fold(1, gone);
  ChunkBuilder kept(0);
  kept.at(2000).id(1, 11, 5, "a", 3).id(2, 12, 5, "b").id(3, 12, 5, "b").id(4, 11, 5, "new", 40);
  const auto chunks = {std::make_shared<const Chunk>(chunk(0, kept))};
  EXPECT_EQ(remembered(1000, chunks), (Lines{"1000 thread 11 Running cpu 1",
                                             "1000 thread 11 Unknown", "1000 thread 12 Unknown"}));
  ChunkBuilder dark(2);
  dark.at(20).record(FTrace_EVT_blackout_start, FTRACE_BLACKOUT_TRANSITIONS);
  fold(2, dark);
  EXPECT_EQ(remembered(1000, chunks), Lines{"1000 thread 11 Running cpu 1"});
}

TEST_F(ForgottenEvents, AThreadHasItsIdentityFromTheTimeOfItsName) {
  ChunkBuilder events(1);
  events.at(20).id(1, 11, 5, "abcde", 3).parent(1, 4, 3).record_at(7, FTrace_EXT_cgroup, 1, 9);
  events.at(40).name(1, "xyz").at(50).dispatch(1);
  fold(1, events);
  ChunkBuilder older(0);
  older.at(30).id(1, 11, 5, "older", 3);
  fold(0, older);
  const auto names = [this](uint64_t begin) {
    Lines lines;
    const auto known = states_.remembered(begin, {});
    for (const SmallEvent &event : known.states[1]) {
      const bool is_name = ThreadName::is_part(code_of(event.code));
      const char *text = reinterpret_cast<const char *>(&event.par2);
      lines.push_back(is_name ? fmt::format("{} name {:.4}", event.time, text)
                              : fmt::format("{} {:#x} {}", event.time, event.code, event.par2));
    }
    return lines;
  };
  const auto id = [](uint64_t time) {
    return Lines{fmt::format("{} {:#x} 11", time, int(FTrace_EVT_id)),
                 fmt::format("3 {:#x} 5", int(FTrace_EXT_process)),
                 fmt::format("3 {:#x} 4", int(FTrace_EXT_parent)),
                 fmt::format("7 {:#x} 9", int(FTrace_EXT_cgroup)),
                 fmt::format("{} name xyz", time)};
  };
  for (const auto &[begin, named, placed] :
       {std::array{20, 40, 50}, std::array{45, 45, 50}, std::array{60, 60, 60}}) {
    Lines all = id(uint64_t(named));
    all.push_back(fmt::format("{} {:#x} {}", placed, int(FTrace_EXT_state), 1 | 1 << 8));
    EXPECT_EQ(names(uint64_t(begin)), all);
  }
}

} // namespace
} // namespace ovnitrace
