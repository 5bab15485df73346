// SPDX-License-Identifier: BSD-2-Clause
// What a flight recorder has kept shows the threads' real states, not Unknown. Hundreds of random
// schedules are recorded by the real writers, read by the real reader, and compared with the
// simulation.
#include "emulator/core/replay.h"
#include "emulator/models/registry.h"
#include "emulator/open/open_trace.h"
#include "tests/unit/support/cases.h"
#include "tests/unit/support/chunks.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/temp_dir.h"
#include "user/chunk/chunk_writer.h"
#include "user/chunk/flight_recorder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <sstream>
#include <utility>
#include <vector>

namespace ovnitrace {
namespace {

using test::CollectingOutput;

constexpr size_t kChunkRecords = 64;

/// What holds from a time on.
struct Place {
  ThreadState state = ThreadState::Unknown;
  uint32_t cpu = kNone; ///< only compared where the thread is Running
  bool operator==(const Place &) const = default;
};
using History = std::map<uint64_t, Place>;      ///< by time
using ThreadId = std::pair<uint32_t, uint64_t>; ///< tid, birth

Place at(const History &history, uint64_t time) {
  const auto later = history.upper_bound(time);
  return later == history.begin() ? Place{} : std::prev(later)->second;
}

/// A machine that runs at random, recorded by a flight recorder.
class Machine {
public:
  Machine(uint32_t seed, uint32_t cpus, bool losing)
      : random_(seed), losing_(losing), running_(cpus),
        recorder_(output, cpus, 4096 + below(4096), kChunkRecords) {
    for (uint32_t cpu = 0; cpu < cpus; cpu++) {
      writers_.push_back(std::make_unique<ChunkWriter>(cpu, 1, registry_, recorder_));
      dark_.push_back(false);
    }
    for (int n = 0; n < 4; n++)
      create(0);
    const unsigned steps = 200 + below(3000);
    for (unsigned n = 0; n < steps; n++)
      step(n < 100);
    time_++;
    for (auto &writer : writers_)
      writer->finish(time_);
    recorder_.close();
  }

  CollectingOutput output;
  std::map<ThreadId, History> truth;
  enum Kind { kPlaced, kWoken, kMoved };
  struct Logged {
    uint64_t time;
    uint32_t cpu; ///< where it was logged
    Kind kind;
  };
  std::map<ThreadId, std::vector<Logged>> logged; ///< in order of time
  unsigned losses = 0;

private:
  struct Thread {
    uint32_t tid;
    uint64_t birth;
    ThreadState state = ThreadState::Unknown;
    uint32_t cpu = 0;
    bool lazy = false; ///< once it sleeps it is not woken, once it runs it does not stop
  };

  uint32_t below(uint32_t n) { return random_() % n; }

  void step(bool early) {
    time_ += 1 + below(20);
    const uint32_t cpus = uint32_t(writers_.size());
    const uint32_t cpu = below(10) ? 0 : below(cpus); // one is much busier than the others
    const uint32_t what = below(100);
    if (losing_ && what == 0)
      return lose(cpu);
    if (what < 2 || threads_.size() < 3)
      return create(cpu);
    if (what < 40)
      return wake(cpu, early);
    switch_to_another(cpu, early);
  }

  void create(uint32_t cpu) {
    static constexpr uint32_t kTids = 30; // they are used again
    uint32_t tid = 100 + below(kTids);
    while (std::any_of(threads_.begin(), threads_.end(),
                       [&](const Thread &t) { return t.tid == tid; }))
      tid = tid == 100 + kTids ? 100 : tid + 1;
    if (threads_.size() > kTids / 2)
      return;
    life_record record = {};
    record.time = time_;
    record.kind = LIFE_NEW;
    record.cpu = cpu;
    record.tid = tid;
    record.pid = 100;
    record.comm[0] = 't';
    if (registry_.learn(record))
      for (auto &writer : writers_)
        writer->expire(tid, time_);
    threads_.push_back({tid, time_, ThreadState::Unknown, cpu, below(4) == 0});
    writers_[cpu]->life(record); // never lost here: its thread would be taken as the one before it
    put(threads_.back(), ThreadState::Unknown, cpu, cpu);
    time_++;
    put(threads_.back(), ThreadState::Warming, cpu, cpu, kWoken);
    log(cpu, {time_, SCHED_WORD(SCHED_KIND_WAKEUP_NEW, 0, 0, tid, 1)});
  }

  void wake(uint32_t cpu, bool early) {
    for (int tries = 0; tries < 5; tries++) {
      Thread &thread = threads_[below(uint32_t(threads_.size()))];
      if (thread.state != ThreadState::Paused || (thread.lazy && !early))
        continue;
      put(thread, ThreadState::Warming, thread.cpu, cpu, kWoken);
      return log(cpu, {time_, SCHED_WORD(SCHED_KIND_WAKEUP, 0, 0, thread.tid, 1)});
    }
  }

  void switch_to_another(uint32_t cpu, bool early) {
    const auto find = [&](uint32_t tid) {
      return std::find_if(threads_.begin(), threads_.end(),
                          [&](const Thread &t) { return t.tid == tid; });
    };
    const uint32_t prev = running_[cpu];
    if (prev && find(prev)->lazy && !early && cpu != 0)
      return;
    uint32_t next = 0;
    for (int tries = 0; tries < 10 && !next; tries++) {
      const Thread &thread = threads_[below(uint32_t(threads_.size()))];
      if (thread.state == ThreadState::Warming || thread.state == ThreadState::Cooling)
        next = thread.tid;
    }
    if (!prev && !next)
      return;
    if (next && find(next)->cpu != cpu) { // logged where the thread was, or where it goes to
      const uint32_t where = below(2) ? cpu : find(next)->cpu;
      logged[{next, find(next)->birth}].push_back({time_, where, kMoved});
      log(where, {time_, SCHED_WORD(SCHED_KIND_MIGRATE, 0, 0, next, cpu)});
      time_++;
    }
    static constexpr std::pair<uint32_t, ThreadState> kEnds[] = {
        {FTRACE_OFFCPU_PREEMPTED, ThreadState::Cooling},
        {FTRACE_OFFCPU_SLEEP, ThreadState::Paused},
        {FTRACE_OFFCPU_DISK, ThreadState::Paused},
        {FTRACE_OFFCPU_DEAD, ThreadState::Dead}};
    const uint32_t choice = below(40);
    const auto [reason, after] = kEnds[choice == 0 ? 3 : choice % 3];
    if (prev)
      put(*find(prev), after, cpu, cpu);
    if (next)
      put(*find(next), ThreadState::Running, cpu, cpu);
    log(cpu, {time_, SCHED_WORD(SCHED_KIND_SWITCH, reason, 121, prev, next) |
                         (prev ? SCHED_A_TRACED : 0) | (next ? SCHED_B_TRACED : 0)});
    running_[cpu] = next;
    if (prev && after == ThreadState::Dead)
      threads_.erase(find(prev));
  }

  /// What is logged on a CPU is lost from now on, or no longer.
  void lose(uint32_t cpu) {
    losses++;
    if (dark_[cpu])
      writers_[cpu]->blackout_end(time_, 1, FTRACE_BLACKOUT_TRANSITIONS);
    else
      writers_[cpu]->blackout_start(time_, FTRACE_BLACKOUT_TRANSITIONS);
    dark_[cpu] = !dark_[cpu];
  }

  void put(Thread &thread, ThreadState state, uint32_t cpu, uint32_t where, Kind kind = kPlaced) {
    thread.state = state;
    thread.cpu = cpu;
    truth[{thread.tid, thread.birth}][time_] = {state, state == ThreadState::Running ? cpu : kNone};
    logged[{thread.tid, thread.birth}].push_back({time_, where, kind});
  }

  void log(uint32_t cpu, const SchedTransition &record) {
    if (!dark_[cpu])
      writers_[cpu]->transition(record);
  }

  std::mt19937 random_;
  const bool losing_;
  uint64_t time_ = 10;
  ThreadRegistry registry_;
  std::vector<Thread> threads_;
  std::vector<uint32_t> running_; ///< by CPU: tid
  std::vector<bool> dark_;        ///< by CPU: events are being lost
  FlightRecorder recorder_;
  std::vector<std::unique_ptr<ChunkWriter>> writers_;
};

/// What a reader makes of what was kept.
struct Reading : StateObserver {
  explicit Reading(const CollectingOutput &output) {
    test::TempDir dir;
    for (const auto &[cpu, records] : output.files)
      test::TraceBuilder::write_file(test::TraceBuilder(dir.path()).file(cpu), records.data(),
                                     records.size() * sizeof(ftrace_record));
    const std::unique_ptr<EventSource> source = open_trace({{dir.path(), 0}}, sink);
    catalog = source->catalog();
    Replay replay(catalog, builtin_models(), {}, sink, FaultLog::kUnlimited);
    replay.system().observe(this);
    for (Event event; source->next(event);) {
      now = event.time;
      if (event.kind == FTrace_EVT_blackout_end && event.par1 == FTRACE_BLACKOUT_FORGOTTEN)
        horizon[catalog.cpus[event.cpu].index] = event.time;
      replay.handle(event);
      replay.skip();
    }
    faults = replay.faults().count();
  }
  void on_change(uint32_t thread, const StateChange &change) override {
    const bool runs = change.to == ThreadState::Running;
    shown[{catalog.threads[thread].tid, catalog.threads[thread].birth}][now] = {
        change.to, runs ? change.cpu : kNone};
  }

  test::CollectingSink sink;
  Catalog catalog;
  std::map<ThreadId, History> shown;
  std::map<uint32_t, uint64_t> horizon; ///< of the CPUs that have forgotten something, ns
  uint64_t now = 0, faults = 0;
};

/// From when on the state of a thread must be shown, if nothing was lost: from its last event that
/// was forgotten, and from the begin at the earliest. If that one does not state one by itself
/// and others may be kept that are older, from its next.
uint64_t known_from(const Machine &machine, const Reading &reading, const ThreadId &id) {
  uint64_t from = reading.catalog.begin;
  bool partly = false;
  for (const Machine::Logged &event : machine.logged.at(id)) {
    const auto horizon = reading.horizon.find(event.cpu);
    const bool forgotten = horizon != reading.horizon.end() && event.time < horizon->second;
    if ((forgotten && event.time > from) || (partly && event.kind != Machine::kMoved)) {
      from = event.time;
      partly = forgotten && event.kind != Machine::kPlaced;
    }
  }
  return partly ? UINT64_MAX : from;
}

std::string text(const Place &place) {
  std::ostringstream out;
  out << name(place.state);
  if (place.cpu != kNone)
    out << " on CPU " << place.cpu;
  return out.str();
}

/// How much was seen of what the test is about.
struct Met {
  uint64_t forgot = 0, known_at_begin = 0, known_in_the_dark = 0, losses = 0;
};

void check(uint32_t seed, bool losing, Met &met) {
  const Machine machine(seed, 1 + seed % 3, losing);
  Reading reading(machine.output);
  ASSERT_EQ(reading.sink.damage(), 0u) << reading.sink.reported.at(0).what;
  ASSERT_EQ(reading.faults, 0u) << reading.sink.reported.back().what;
  const uint64_t begin = reading.catalog.begin;
  met.forgot += !reading.horizon.empty();
  met.losses += machine.losses;
  uint64_t dark = 0;
  for (const auto &[cpu, horizon] : reading.horizon)
    dark = std::max(dark, horizon);
  for (const auto &[id, truth] : machine.truth) {
    const History &shown = reading.shown[id];
    History both = truth; // all times at which either changes
    both.insert(shown.begin(), shown.end());
    // If a tid was used again, only its latest thread is remembered.
    const auto next = std::next(machine.truth.find(id));
    const bool latest = next == machine.truth.end() || next->first.first != id.first;
    const uint64_t from = losing || !latest ? UINT64_MAX : known_from(machine, reading, id);
    for (const auto &[time, place] : both) {
      const uint64_t when = std::max(time, begin);
      const Place real = at(truth, when), seen = at(shown, when);
      if (seen.state != ThreadState::Unknown) {
        ASSERT_EQ(seen, real) << "thread " << id.first << " at " << when << " is shown "
                              << text(seen) << ", but was " << text(real);
      } else if (when >= from && real.state != ThreadState::Dead) {
        ASSERT_EQ(real.state, ThreadState::Unknown)
            << "thread " << id.first << " is not known at " << when
            << ", but nothing of it was forgotten since " << from;
      }
      met.known_at_begin += when == begin && seen.state != ThreadState::Unknown;
      met.known_in_the_dark += when > begin && when < dark && seen.state != ThreadState::Unknown;
    }
  }
}

class ForgottenStatesTest : public ::testing::TestWithParam<bool> {};

TEST_P(ForgottenStatesTest, AreKnownAndNeverWrong) {
  Met met;
  const unsigned schedules = test::cases(50);
  for (uint32_t seed = 0; seed < schedules; seed++) {
    check(seed, GetParam(), met);
    if (HasFailure())
      FAIL() << "seed " << seed;
  }
  EXPECT_GT(met.forgot, schedules / 2);
  EXPECT_GT(met.known_at_begin, schedules);
  EXPECT_GT(met.known_in_the_dark, schedules * 3);
  EXPECT_EQ(met.losses > schedules, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Losses, ForgottenStatesTest, ::testing::Bool());

} // namespace
} // namespace ovnitrace
