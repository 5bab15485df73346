// SPDX-License-Identifier: BSD-2-Clause
// What a cut leaves out of the files: emulator/input/cut_plan. The same trace is read with and
// without it, and a small model of threads says in which state each is where the cut starts.
#include "emulator/compress/compress_trace.h"
#include "emulator/format/switch_record.h"
#include "emulator/format/thread_state.h"
#include "emulator/open/open_trace.h"
#include "tests/unit/support/cases.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <map>
#include <random>
#include <set>
#include <tuple>
#include <utility>

namespace ovnitrace {
namespace {

using test::ChunkBuilder;
using test::CollectingSink;
using test::TempDir;
using test::TraceBuilder;

constexpr uint64_t kBegin = 1000;
constexpr uint16_t kCpus = 3, kThreads = 9, kLongRunner = kThreads;

/// A machine that does what a kernel could: a thread runs on at most one CPU, leaves it blocked or
/// ready, and is woken on any. Threads with high numbers do so hardly ever, and the last of them
/// runs for long.
class Machine {
public:
  Machine(const std::string &dir, std::mt19937 &random) : trace_(dir), random_(random) {
    for (uint16_t cpu = 0; cpu < kCpus; cpu++)
      trace_.cpu(cpu).at(kBegin).start();
    for (uint16_t thread = 1; thread <= kThreads; thread++)
      introduce(0, {thread})
          .snapshot(thread, uint32_t(ThreadState::Paused), 0, FTRACE_OFFCPU_SLEEP);
  }

  void run(int events) {
    for (int i = 0; i < events; i++)
      step();
  }
  /// Something that is not about scheduling.
  void user_event() { at(0).record(FTrace_EVT_user_event_3, 0, uint32_t(time_)); }

  /// Returns the length of the trace in ns.
  uint64_t finish() {
    for (uint16_t cpu = 0; cpu < kCpus; cpu++)
      at(cpu).stop();
    trace_.json(R"({"format": "ovnitrace", "version": 1, "begin_ns": 1000})").write();
    return time_ - kBegin;
  }

private:
  ChunkBuilder &at(uint16_t cpu) { return trace_.cpu(cpu).at(time_); }

  /// The threads are known to the chunk of this CPU.
  ChunkBuilder &introduce(uint16_t cpu, std::initializer_list<uint16_t> threads) {
    ChunkBuilder &chunk = at(cpu);
    if (++records_[cpu] % 700 == 0) {
      chunk.next_chunk();
      known_[cpu].clear();
    }
    for (const uint16_t thread : threads)
      if (known_[cpu].insert(thread).second)
        chunk.id(thread, 100u + thread, 100, "t" + std::to_string(thread));
    return chunk;
  }

  uint16_t any_thread() {
    if (random_() % 1000)
      return uint16_t(1 + random_() % 4);
    return uint16_t(random_() % 2 ? 1 + random_() % kThreads : kLongRunner);
  }

  void step() {
    const uint64_t pause = random_() % 50;
    time_ += pause;
    const uint16_t cpu = uint16_t(random_() % kCpus), thread = any_thread();
    const bool stays = running_[cpu] == kLongRunner && random_() % 20000;
    if (running_[cpu] && !stays) {
      leave(cpu, thread, pause ? pause - 1 : 0);
    } else if (ready_[thread]) {
      if (stays)
        return;
      ready_[thread] = false;
      running_[cpu] = thread;
      introduce(cpu, {thread}).dispatch(thread, 122);
    } else if (!runs(thread)) {
      ready_[thread] = true;
      introduce(cpu, {thread}).activate(thread, 100);
      if (random_() % 4 == 0)
        introduce(cpu, {thread}).migrate(thread, uint32_t(random_() % kCpus));
    }
  }
  /// With the next thread in the same record, if it can run, or was woken `ticks` before.
  void leave(uint16_t cpu, uint16_t next, uint64_t ticks) {
    const bool blocks = random_() % 3, can_follow = !runs(next) && random_() % 2;
    const uint16_t leaves = std::exchange(running_[cpu], can_follow ? next : 0);
    ready_[leaves] = !blocks;
    if (!can_follow) {
      ChunkBuilder &chunk = introduce(cpu, {leaves});
      blocks ? chunk.sleep(leaves) : chunk.epilogue(leaves);
      return;
    }
    const SwitchParts parts = {blocks ? FTRACE_OFFCPU_SLEEP : FTRACE_OFFCPU_PREEMPTED, next,
                               FTRACE_WAKE_SWITCH_PRIO};
    ChunkBuilder &chunk = introduce(cpu, {leaves, next});
    if (std::exchange(ready_[next], false))
      chunk.record(FTrace_EXT_switch, leaves, parts.par2());
    else
      chunk.record(FTrace_EXT_wake_switch, leaves, parts.wake_par2(ticks));
  }
  bool runs(uint16_t thread) const {
    for (uint16_t cpu = 0; cpu < kCpus; cpu++)
      if (running_[cpu] == thread)
        return true;
    return false;
  }

  TraceBuilder trace_;
  std::mt19937 &random_;
  uint64_t time_ = kBegin;
  std::array<uint16_t, kCpus> running_{}; ///< thread, 0: idle
  std::array<bool, kThreads + 1> ready_{};
  std::array<uint64_t, kCpus> records_{};
  std::array<std::set<uint16_t>, kCpus> known_;
};

/// What there is to know of a thread: its last event, where, since when it waits for a CPU.
struct State {
  uint32_t kind = 0, cpu = kNone, par2 = 0;
  uint64_t time = 0, woken = 0;
  bool operator==(const State &) const = default;
};

/// Where a late cut starts, which leaves out most of a trace.
uint64_t late_in(uint64_t length) {
  return length / 100 * 99;
}

/// A trace in `dir` of `events` random events. Returns where a late cut starts.
uint64_t write_random_trace(const TempDir &dir, int events, uint32_t seed) {
  std::mt19937 random(seed);
  Machine machine(dir.path(), random);
  machine.run(events);
  return late_in(machine.finish());
}

struct Reading {
  std::map<uint32_t, State> at_start;
  std::vector<std::tuple<uint64_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t>> after;
  uint64_t before = 0; ///< events before the start of the cut
};

Reading read(const std::string &dir, uint64_t from, bool skip) {
  CollectingSink sink;
  const auto source = open_trace({{dir}}, sink, skip ? from : 0);
  Reading reading;
  for (Event e; source->next(e);) {
    if (e.time >= kBegin + from) {
      reading.after.emplace_back(e.time, e.kind, e.thread, e.cpu, e.par2, e.peer);
      continue;
    }
    reading.before++;
    if (e.thread == kNone || e.kind == FTrace_EXT_migrate)
      continue;
    State &state = reading.at_start[e.thread];
    state = {e.kind, e.cpu, e.par2, e.time, state.woken};
    if (e.kind == FTrace_EVT_task_activate)
      state.woken = e.time;
    else if (e.kind != FTrace_EVT_task_dispatch)
      state.woken = 0;
  }
  EXPECT_EQ(sink.damage(), 0u) << sink.reported.back().what;
  return reading;
}

void expect_equal(const std::string &dir, uint64_t from) {
  const Reading all = read(dir, from, false), cut = read(dir, from, true);
  EXPECT_EQ(cut.after, all.after) << from;
  EXPECT_EQ(cut.at_start, all.at_start) << from;
  EXPECT_LE(cut.before, all.before);
}

TEST(CutPlan, LeavesOutNothingThatMatters) {
  std::mt19937 random(1);
  for (unsigned round = 0; round < test::cases(2); round++) {
    TempDir dir;
    Machine machine(dir.path(), random);
    machine.run(60000);
    const uint64_t length = machine.finish();
    if (round % 2)
      compress_trace(dir.path(), 1);
    for (int cut = 0; cut < 12; cut++)
      expect_equal(dir.path(), 1 + random() % length);
  }
}

// Damage that appears after the files were scanned is found by the reader.
TEST(CutPlan, LeavesOutMostChunks) {
  TempDir dir;
  const uint64_t late = write_random_trace(dir, 200000, 2);
  CollectingSink all_faults, cut_faults;
  const auto all = open_trace({{dir.path()}}, all_faults);
  const auto cut = open_trace({{dir.path()}}, cut_faults, late);
  for (uint16_t cpu = 0; cpu < kCpus; cpu++) {
    const std::string path = TraceBuilder(dir.path()).file(cpu);
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    const uint64_t part = std::filesystem::file_size(path) / 5 & ~uint64_t(15);
    file.seekp(std::streamoff(2 * part)) << std::string(part, '\xff');
  }
  for (const auto &source : {all.get(), cut.get()})
    for (Event e; source->next(e);) {
    }
  EXPECT_GT(all_faults.damage(), 0u);
  EXPECT_EQ(cut_faults.damage(), 0u);
}

TEST(CutPlan, OtherEventsAreNeverLeftOut) {
  std::mt19937 random(3);
  TempDir dir;
  Machine machine(dir.path(), random);
  for (int i = 0; i < 10; i++) {
    machine.run(10000);
    machine.user_event();
  }
  const uint64_t late = late_in(machine.finish());
  CollectingSink sink;
  const auto source = open_trace({{dir.path()}}, sink, late);
  int seen = 0;
  for (Event e; source->next(e);)
    seen += e.kind == FTrace_EVT_user_event_3;
  EXPECT_EQ(seen, 10);
}

/// Changes records of a file in their place.
void edit(const std::string &path, const std::function<void(ftrace_record &)> &change) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  for (ftrace_record r; file.read(reinterpret_cast<char *>(&r), sizeof r);) {
    change(r);
    file.seekp(-std::streamoff(sizeof r), std::ios::cur);
    file.write(reinterpret_cast<const char *>(&r), sizeof r).flush();
    file.seekg(0, std::ios::cur);
  }
}

/// With and without a cut. Returns how many faults were found.
uint64_t expect_same_events(const std::string &dir, uint64_t from) {
  CollectingSink all_faults, cut_faults;
  const auto all = open_trace({{dir}}, all_faults);
  const auto cut = open_trace({{dir}}, cut_faults, from);
  uint64_t all_events = 0, cut_events = 0;
  for (Event e; all->next(e);)
    all_events++;
  for (Event e; cut->next(e);)
    cut_events++;
  EXPECT_EQ(all_events, cut_events);
  EXPECT_EQ(all_faults.damage(), cut_faults.damage());
  return all_faults.damage();
}

/// Whatever is wrong with a file is found by who reads all of it.
void expect_read_whole(const std::function<void(ftrace_record &)> &damage) {
  TempDir dir;
  const uint64_t late = write_random_trace(dir, 100000, 4);
  edit(dir.path() + "/cpu0001.ftr", damage);
  EXPECT_GT(expect_same_events(dir.path(), late), 0u);
}

TEST(CutPlan, ATraceThatLacksAChunkIsReadWhole) {
  expect_read_whole([](ftrace_record &r) {
    r.par2 += r.code == FTrace_EXT_chunk && r.par2 >= 5; // chunk 5 is gone
  });
}

/// Once, at the 500th wakeup.
std::function<void(ftrace_record &)> once(const std::function<void(ftrace_record &)> &damage) {
  return [damage, left = 500](ftrace_record &r) mutable {
    if (r.code == FTrace_EVT_task_activate && --left == 0)
      damage(r);
  };
}

TEST(CutPlan, ATraceWithARecordThatCannotBeRightIsReadWhole) {
  expect_read_whole(once([](ftrace_record &r) { r.par1 = 12345; }));
  expect_read_whole(once([](ftrace_record &r) { r.code = 0xCF; }));
  expect_read_whole(once([](ftrace_record &r) { r.tsc_low -= 1000; }));
}

TEST(CutPlan, ATraceWithAChunkThatCannotBeRightIsReadWhole) {
  expect_read_whole([chunk = 0](ftrace_record &r) mutable {
    r.par2 += r.code == FTrace_EVT_numevents && ++chunk == 5;
  });
  expect_read_whole([chunk = 0](ftrace_record &r) mutable {
    if (r.code == FTrace_EVT_next_chunk && ++chunk == 5)
      r.code = FTrace_EVT_empty;
  });
  expect_read_whole([chunk = 0](ftrace_record &r) mutable {
    if (r.code == FTrace_EVT_cycles_per_msec && ++chunk == 5)
      r.code = FTrace_EVT_empty;
  });
}

/// Some kernels hide switches. What becomes of the thread then comes from who gets its CPU next.
TEST(CutPlan, ATraceWithASwitchThatWasNotSeenIsReadWhole) {
  TempDir dir;
  const uint64_t late = write_random_trace(dir, 100000, 5);
  const auto hide = [left = 100](ftrace_record &r) mutable {
    if ((r.code == FTrace_EVT_task_sleep || r.code == FTrace_EVT_task_epilogue) && --left == 0)
      r.code = FTrace_EVT_empty;
  };
  edit(dir.path() + "/cpu0001.ftr", hide);
  EXPECT_EQ(expect_same_events(dir.path(), late), 0u);
}

/// Whether a snapshot that says so is believed depends on who else was seen on that CPU.
TEST(CutPlan, ATraceOfAThreadThatRunsFromTheStartIsReadWhole) {
  for (const bool leaves : {false, true}) {
    TempDir dir;
    TraceBuilder trace(dir.path());
    ChunkBuilder &chunk = trace.cpu(0).at(kBegin).start();
    chunk.id(1, 101, 100, "one").id(2, 102, 100, "two");
    chunk.snapshot(1, uint32_t(ThreadState::Running), 1);
    uint64_t time = kBegin;
    if (leaves)
      trace.cpu(1).at(time).start().id(1, 101, 100, "one").sleep(1);
    for (int i = 0; i < 20000; i++) {
      time += 30;
      chunk.at(time - 20).dispatch(2).at(time - 10).sleep(2).at(time).activate(2);
      if (i % 500 == 499)
        chunk.next_chunk().id(2, 102, 100, "two");
    }
    chunk.stop();
    if (leaves)
      trace.cpu(1).at(time).stop();
    trace.json(R"({"format": "ovnitrace", "version": 1, "begin_ns": 1000})").write();
    const uint64_t late = late_in(time - kBegin);
    const uint64_t all = read(dir.path(), late, false).before;
    const uint64_t cut = read(dir.path(), late, true).before;
    EXPECT_EQ(leaves, cut < all / 4) << cut << " of " << all;
  }
}

TEST(CutPlan, AnEventOutsideAChunkIsHarmless) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  trace.json(R"({"format": "ovnitrace", "version": 1, "begin_ns": 1000})").write();
  ChunkBuilder chunk(0);
  chunk.at(kBegin).start();
  const ftrace_record start = chunk.records().back();
  TraceBuilder::write_file(trace.file(0), &start, sizeof start);
  EXPECT_EQ(expect_same_events(dir.path(), 500), 1u);
}

} // namespace
} // namespace ovnitrace
