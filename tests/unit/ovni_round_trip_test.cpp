// SPDX-License-Identifier: BSD-2-Clause
// "Round trip capture → ovni stream → convert gives the same thread states": a random schedule is
// exported as the kernel logs it. Both the capture and its ovni trace are replayed.
#include "emulator/core/replay.h"
#include "emulator/models/registry.h"
#include "emulator/open/open_trace.h"
#include "emulator/ovni_export/export_trace.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/error_from.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

namespace ovnitrace::test {
namespace {

struct Held {
  uint64_t time; ///< ns from the start of the trace
  ThreadState state;
  uint32_t cpu; ///< its number, kNone on none
};
using Timelines = std::map<uint32_t, std::vector<Held>>; ///< by tid: what holds from when on

class NoRows : public RowSink {
public:
  void line(uint64_t, uint32_t, uint32_t, std::span<const TypedValue>) override {}
  void punctual(uint64_t, uint32_t, const TypedValue &) override {}
  void arrow(uint64_t, uint32_t, uint32_t, uint64_t, uint32_t) override {}
};

/// The states of all threads after each instant, as the replay has them.
Timelines replayed(const std::string &path, uint64_t &faults) {
  CollectingSink sink;
  const auto source = open_trace({{path, 0}}, sink);
  const Catalog &catalog = source->catalog();
  std::vector<Model> models;
  models.push_back(ovni_model());
  Replay replay(catalog, std::move(models), {.virtual_cpus = true, .left_out = {}}, sink, 10);
  const System &system = replay.system();

  Timelines lines;
  const auto settle = [&](uint64_t time) {
    NoRows none;
    replay.emit(time, none, none);
    for (uint32_t i = 0; i < catalog.threads.size(); ++i) {
      const Thread &thread = system.threads()[i];
      // Where a thread is of which nothing is known, an ovni trace cannot say.
      const bool nowhere = thread.cpu == kNone || thread.state == ThreadState::Unknown;
      const uint32_t cpu = nowhere ? kNone : system.cpus()[thread.cpu].index;
      std::vector<Held> &line = lines[catalog.threads[i].tid];
      const bool same = line.empty() ? thread.state == ThreadState::Unknown
                                     : line.back().state == thread.state && line.back().cpu == cpu;
      if (!same)
        line.push_back({time - catalog.begin, thread.state, cpu});
    }
  };
  uint64_t time = catalog.begin;
  for (Event event; source->next(event);) {
    if (event.time != time)
      settle(time);
    time = event.time;
    replay.handle(event);
  }
  settle(time);
  faults = replay.faults().count() + sink.damage();
  return lines;
}

/// A kernel's scheduler in small: legal records of a few threads on a few CPUs, many at one time.
class Scheduler {
public:
  static constexpr uint32_t kThreads = 9, kCpus = 3, kFirstTid = 500;

  Scheduler(TraceBuilder &trace, uint32_t seed) : trace_(trace), random_(seed) {
    for (uint16_t cpu = 0; cpu < kCpus; ++cpu)
      trace_.cpu(cpu).at(time_).start();
    for (uint32_t t = 0; t < kThreads / 3; ++t) { // alive before the capture
      const auto state = t == 0   ? ThreadState::Running
                         : t == 1 ? ThreadState::Paused
                                  : ThreadState::Warming;
      on(0, t).snapshot(context(t), uint32_t(state), 0);
      threads_[t] = {state, 0, true};
      if (state == ThreadState::Running)
        running_[0] = t;
    }
  }

  void run(int steps) {
    for (int i = 0; i < steps; ++i) {
      time_ += random_() % 3 ? 2 + random_() % 20 : 0; // a run of 1 ns would vanish
      step();
    }
  }

  /// Some events of a CPU are lost, while the others go on.
  void blackout(uint16_t cpu) {
    trace_.cpu(cpu).at(time_ += 2).blackout_start();
    time_ += 50;
    trace_.cpu(cpu).at(time_).blackout_end(3);
    time_ += 2;
  }

  void stop() {
    for (uint16_t cpu = 0; cpu < kCpus; ++cpu)
      trace_.cpu(cpu).at(time_ + 100).stop();
  }

private:
  struct State {
    ThreadState state = ThreadState::Unknown;
    uint16_t cpu = 0;
    bool born = false;
  };
  static uint16_t context(uint32_t thread) { return uint16_t(thread + 1); }

  /// The builder of a CPU, with the thread's identity reported.
  ChunkBuilder &on(uint16_t cpu, uint32_t thread) {
    ChunkBuilder &chunk = trace_.cpu(cpu).at(time_);
    last_[thread] = time_;
    if (told_.insert({cpu, thread}).second)
      chunk.id(context(thread), kFirstTid + thread, kFirstTid, "t");
    return chunk;
  }

  void step() {
    const uint32_t t = random_() % kThreads;
    const uint16_t cpu = uint16_t(random_() % kCpus);
    State &thread = threads_[t];
    // One thread has one event at a time: of two CPUs, their order would not be known.
    const auto runs = running_.find(thread.cpu);
    if (last_[t] == time_ || (runs != running_.end() && last_[runs->second] == time_))
      time_ += 2;
    switch (thread.state) {
    case ThreadState::Unknown: // born on some CPU, woken by whoever runs there
      on(cpu, t).activate_new(context(t));
      thread = {ThreadState::Warming, cpu, true};
      break;
    case ThreadState::Paused:
      on(cpu, t).activate(context(t));
      thread.state = ThreadState::Warming;
      break;
    case ThreadState::Warming:
    case ThreadState::Cooling:
      if (random_() % 3 == 0) {
        on(thread.cpu, t).migrate(context(t), cpu);
        thread.cpu = cpu;
      } else {
        switch_to(thread.cpu, t);
      }
      break;
    case ThreadState::Running:
      leave(t, random_() % 8 ? ThreadState::Paused : ThreadState::Dead);
      break;
    case ThreadState::Dead:
      break;
    }
  }

  /// Preempts the thread that runs there, at the same instant.
  void switch_to(uint16_t cpu, uint32_t t) {
    if (running_.contains(cpu))
      leave(running_[cpu], random_() % 2 ? ThreadState::Cooling : ThreadState::Paused);
    on(cpu, t).dispatch(context(t));
    threads_[t].state = ThreadState::Running;
    running_[cpu] = t;
  }

  void leave(uint32_t t, ThreadState after) {
    ChunkBuilder &chunk = on(threads_[t].cpu, t);
    if (after == ThreadState::Dead)
      chunk.end(context(t), kFirstTid + t);
    else if (after == ThreadState::Cooling)
      chunk.epilogue(context(t));
    else
      chunk.sleep(context(t));
    threads_[t].state = after;
    running_.erase(threads_[t].cpu);
  }

  TraceBuilder &trace_;
  std::mt19937 random_;
  uint64_t time_ = 1000;
  std::map<uint32_t, State> threads_;
  std::map<uint32_t, uint64_t> last_;    ///< time of its last event, by thread
  std::map<uint16_t, uint32_t> running_; ///< thread by CPU
  std::set<std::pair<uint16_t, uint32_t>> told_;
};

/// What an ovni trace makes of a timeline: a thread that becomes Unknown is Dead.
std::vector<Held> as_exported(const std::vector<Held> &line) {
  std::vector<Held> exported;
  for (Held held : line) {
    if (held.state == ThreadState::Unknown)
      held.state = ThreadState::Dead;
    const bool stays_dead = held.state == ThreadState::Dead && !exported.empty() &&
                            exported.back().state == ThreadState::Dead;
    if (!stays_dead)
      exported.push_back(held);
  }
  return exported;
}

void expect_same(const Timelines &capture, const Timelines &ovni, const std::string &what) {
  for (const auto &[tid, line] : capture) {
    if (line.empty())
      continue;
    const std::vector<Held> expected = as_exported(line);
    const auto found = ovni.find(tid);
    ASSERT_NE(found, ovni.end()) << what << " thread " << tid;
    const std::vector<Held> &seen = found->second;
    const bool died = expected.back().state == ThreadState::Dead;
    ASSERT_EQ(seen.size(), expected.size() + !died) << what << " thread " << tid;
    for (size_t i = 0; i < expected.size(); ++i) {
      ASSERT_EQ(seen[i].state, expected[i].state) << what << " thread " << tid;
      EXPECT_EQ(seen[i].cpu, expected[i].cpu) << what << " thread " << tid;
      EXPECT_GE(seen[i].time, expected[i].time) << what;
      // Only who takes a CPU may be late, by the nanosecond after the one before left it.
      EXPECT_LE(seen[i].time, expected[i].time + (seen[i].state == ThreadState::Running)) << what;
    }
    EXPECT_EQ(seen.back().state, ThreadState::Dead) << what;
  }
}

void round_trip(uint32_t seed, bool with_blackout) {
  const std::string what = "seed " + std::to_string(seed);
  TempDir dir;
  std::filesystem::create_directory(dir / "capture");
  TraceBuilder trace(dir / "capture");
  Scheduler scheduler(trace, seed);
  scheduler.run(75);
  if (with_blackout)
    scheduler.blackout(1);
  scheduler.run(75);
  scheduler.stop();
  trace.write();

  CollectingSink sink;
  const auto source = open_trace({{dir / "capture", 0}}, sink);
  const ovni::ExportResult result = ovni::export_trace(*source, dir / "ovni", sink, 10);
  EXPECT_EQ(result.faults, 0u) << what;
  EXPECT_EQ(result.counts.conflicts, 0u) << what;

  uint64_t faults = 0;
  const Timelines capture = replayed(dir / "capture", faults);
  EXPECT_EQ(faults, 0u) << what;
  const Timelines exported = replayed(dir / "ovni", faults);
  EXPECT_EQ(faults, 0u) << what;
  expect_same(capture, exported, what);
}

TEST(OvniRoundTrip, ThreadStatesAreTheSame) {
  for (uint32_t seed = 0; seed < 60; ++seed)
    round_trip(seed, false);
}

TEST(OvniRoundTrip, TimesInABlackoutAreDeadAndNotInvented) {
  for (uint32_t seed = 0; seed < 60; ++seed)
    round_trip(seed, true);
}

// ovni allows a tid in two processes of a loom, and OAr means the thread of the own process.
TEST(OvniRoundTrip, MovesTheRightOneOfTwoThreadsWithOneTid) {
  TempDir dir;
  std::filesystem::create_directory(dir / "capture");
  TraceBuilder trace(dir / "capture");
  trace.cpu(0).at(10).start().id(1, 70, 60, "old", 5).dispatch(1).at(20).sleep(1);
  trace.cpu(0).at(25).id(2, 70, 50, "new", 22).dispatch(2).at(30).sleep(2).at(40).migrate(2, 1);
  trace.cpu(0).at(45).migrate(1, 1);
  trace.cpu(0).at(50).activate(2).at(60).stop();
  trace.cpu(1).at(10).start().at(60).stop();
  trace.write();
  CollectingSink sink;
  const auto capture = open_trace({{dir / "capture", 0}}, sink);
  ASSERT_EQ(capture->catalog().threads.size(), 2u);
  ovni::export_trace(*capture, dir / "ovni", sink, 10);

  sink.reported.clear();
  const auto ovni = open_trace({{dir / "ovni", 0}}, sink);
  std::vector<Model> models;
  models.push_back(ovni_model());
  Replay replay(ovni->catalog(), std::move(models), {.virtual_cpus = true, .left_out = {}}, sink,
                10);
  for (Event event; event.time < 50 && ovni->next(event);)
    replay.handle(event);
  EXPECT_EQ(replay.faults().count(), 0u);
  EXPECT_TRUE(sink.reported.empty());
  EXPECT_EQ(ovni->catalog().threads[0].name, "new");
  EXPECT_EQ(replay.system().threads()[0].cpu, 1u);
  EXPECT_EQ(replay.system().threads()[1].cpu, 1u);
}

TEST(OvniRoundTrip, ATraceWithoutStatesIsRefused) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  trace.cpu(0).at(100).start().at(200).stop();
  trace.write();
  CollectingSink sink;
  const auto source = open_trace({{dir.path()}}, sink);
  EXPECT_EQ(test::error_from([&] { ovni::export_trace(*source, dir / "ovni", sink, 0); }),
            "no thread of the trace has a state that an ovni trace could show: nothing to export");
}

} // namespace
} // namespace ovnitrace::test
