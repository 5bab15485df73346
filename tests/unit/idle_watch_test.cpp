// SPDX-License-Identifier: BSD-2-Clause
// Whether another CPU was idle while a thread waited: emulator/slices/idle_watch.
#include "emulator/open/open_trace.h"
#include "emulator/slices/idle_watch.h"
#include "emulator/slices/slicer.h"
#include "tests/unit/support/cases.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <utility>

namespace ovnitrace {
namespace {

using test::ChunkBuilder;
using test::CollectingSink;
using test::TempDir;
using test::TraceBuilder;

constexpr char kAll[] = R"({"format":"ovnitrace","version":1,"all_threads":true})";
constexpr uint32_t kPaused = 2;

/// Every wait of a trace: "tid start-end …".
class Waits final : public SliceSink {
public:
  explicit Waits(const Catalog &catalog) : catalog_(catalog) {}
  void on_event(const Event &event, const System &system) override {
    watch.on_event(event, system);
  }
  void on_slice(const Slice &slice) override {
    if (slice.state != ThreadState::Cooling && slice.state != ThreadState::Warming)
      return;
    const IdleElsewhere idle = watch.of(slice);
    std::string text = fmt::format("{} {}-{}", catalog_.threads[slice.thread].tid,
                                   slice.start - catalog_.begin, slice.end - catalog_.begin);
    if (!idle.known)
      text += " unknown";
    if (idle.ns)
      text += fmt::format(" {} ns, {} ns on {}", idle.ns, idle.cpu_ns, idle.cpu);
    if (idle.forbidden_ns)
      text += fmt::format("; may not: {} ns", idle.forbidden_ns);
    if (idle.forbidden_cpu_ns)
      text += fmt::format(", {} ns on {}", idle.forbidden_cpu_ns, idle.forbidden_cpu);
    texts.push_back(text);
    if (idle.known)
      text += fmt::format("; causes {}", fmt::join(idle.causes.ns, " "));
    with_causes.push_back(text);
  }

  IdleWatch watch;
  std::vector<std::string> texts, with_causes;

private:
  const Catalog &catalog_;
};

class IdleWatchTest : public ::testing::Test {
protected:
  IdleWatchTest() : trace(dir.path()) {
    trace.json(kAll);
    for (uint16_t cpu = 0; cpu < 3; cpu++) {
      ChunkBuilder &chunk = trace.cpu(cpu).at(1000).start();
      for (uint16_t thread = 1; thread <= 4; thread++)
        chunk.id(thread, 10 + thread, 10 + thread, "t");
    }
  }

  ChunkBuilder &at(uint16_t cpu, uint64_t time) { return trace.cpu(cpu).at(1000 + time); }
  void may_use(uint16_t thread, uint64_t time, uint32_t cpus) {
    at(0, time).record(FTrace_EXT_affinity, thread, cpus);
  }
  std::vector<std::string> waits(uint64_t end, std::vector<TraceInput> inputs = {}) {
    for (uint16_t cpu = 0; cpu < 3; cpu++)
      at(cpu, end).stop();
    trace.write();
    inputs.insert(inputs.begin(), {dir.path()});
    const auto source = open_trace(inputs, sink);
    Waits all(source->catalog());
    replay_slices(*source, {}, all);
    return all.texts;
  }

  TempDir dir;
  TraceBuilder trace;
  CollectingSink sink;
};

using Texts = std::vector<std::string>;

TEST_F(IdleWatchTest, CountsTheTimeInWhichAnotherAllowedCpuWasIdle) {
  may_use(1, 0, 0b111);
  at(1, 10).dispatch(2).at(1020).sleep(2); // CPU 1 is idle from 20 on
  at(0, 30).dispatch(3).at(1040).epilogue(3, 11).dispatch(1);
  at(0, 100).epilogue(1, 13).dispatch(3); // 1 waits from here on
  at(1, 150).dispatch(4).at(1180).sleep(4);
  at(0, 200).sleep(3, 11).dispatch(1);
  EXPECT_EQ(waits(300), (Texts{"13 40-100 unknown", "11 100-200 70 ns, 70 ns on 1"}))
      << "50 before CPU 1 is taken, and 20 after it";
}

/// A CPU that is never idle has no event of an idle state.
TEST_F(IdleWatchTest, WithTheFamilyPowerACpuIsKnownOnceItWasBusy) {
  trace.json(R"({"version": 1, "options": {"families": "sched, user, power"}})");
  may_use(1, 0, 0b111);
  at(0, 10).dispatch(1);
  at(1, 20).dispatch(2);
  at(0, 30).epilogue(1, 99).at(1040).dispatch(1);
  at(2, 50).record(FTrace_EXT_steal, 0, 0);
  at(0, 100).epilogue(1, 99).at(1200).dispatch(1);
  at(2, 250).record(FTrace_EXT_idle_start, 0, 0);
  at(0, 300).epilogue(1, 99).at(1400).dispatch(1);
  EXPECT_EQ(waits(500),
            (Texts{"11 30-40 unknown", "11 100-200", "11 300-400 100 ns, 100 ns on 2"}));
}

TEST_F(IdleWatchTest, CountsCpusOutsideTheAffinitySeparately) {
  may_use(1, 0, 0b101);
  at(1, 10).dispatch(2).at(1020).sleep(2);
  at(0, 40).dispatch(1).at(1100).epilogue(1, 13).dispatch(3).at(1200).sleep(3, 11).dispatch(1);
  EXPECT_EQ(waits(300), Texts{"11 100-200; may not: 100 ns, 100 ns on 1"});
}

TEST_F(IdleWatchTest, DoesNotCountTheCpuOnWhichItWaits) {
  may_use(1, 0, 0b011);
  at(0, 0).snapshot(1, kPaused, 1);
  at(1, 10).dispatch(2).at(1020).sleep(2); // idle, and slow to run what is woken
  at(0, 100).activate(1);
  at(1, 150).dispatch(1);
  EXPECT_EQ(waits(300), Texts{"11 100-150"});
}

TEST_F(IdleWatchTest, NeedsToKnowTheCpusThatTheThreadMayUse) {
  at(1, 10).dispatch(2).at(1020).sleep(2);
  at(0, 40).dispatch(1).at(1100).epilogue(1, 13).at(1200).dispatch(1);
  may_use(1, 250, 0b11);
  at(0, 300).epilogue(1, 13).at(1400).dispatch(1).at(1500).epilogue(1, 13);
  may_use(1, 550, 0b10); // while it waits
  at(0, 600).dispatch(1).at(1610).blackout_start().at(1620).blackout_end(1);
  at(0, 630).dispatch(1).at(1640).epilogue(1, 13);
  EXPECT_EQ(waits(700), (Texts{"11 100-200 unknown", "11 300-400 100 ns, 100 ns on 1",
                               "11 500-600 unknown", "11 640-700 60 ns, 60 ns on 1"}))
      << "a blackout of transitions hides no change of affinity";
}

TEST_F(IdleWatchTest, ForgetsAffinitiesWhereChangesMayBeLost) {
  may_use(1, 0, 0b11);
  at(1, 10).dispatch(2).at(1020).sleep(2);
  at(0, 30).record(FTrace_EVT_blackout_start, FTRACE_BLACKOUT_SOMEWHERE);
  at(0, 35).record(FTrace_EVT_blackout_end, FTRACE_BLACKOUT_SOMEWHERE, 1);
  at(0, 40).dispatch(1).at(1100).epilogue(1, 13).at(1200).dispatch(1);
  EXPECT_EQ(waits(300), Texts{"11 100-200 unknown"});
}

TEST_F(IdleWatchTest, ALossOnAnotherHostHidesNoAffinity) {
  may_use(1, 0, 0b11);
  at(1, 10).dispatch(2).at(1020).sleep(2);
  at(0, 40).dispatch(1).at(1100).epilogue(1, 13).at(1200).dispatch(1);
  TempDir other;
  TraceBuilder second(other.path());
  second.cpu(0).at(1000).start().at(1030).record(FTrace_EVT_blackout_start,
                                                 FTRACE_BLACKOUT_SOMEWHERE);
  second.cpu(0).at(1150).record(FTrace_EVT_blackout_end, FTRACE_BLACKOUT_SOMEWHERE, 1);
  second.cpu(0).at(1300).stop();
  second.write();
  EXPECT_EQ(waits(300, {{other.path()}}), Texts{"11 100-200 100 ns, 100 ns on 1"});
}

TEST_F(IdleWatchTest, KnowsNoIdleCpuWhereOnlySomeThreadsWereCaptured) {
  trace.json(R"({"format":"ovnitrace","version":1})");
  may_use(1, 0, 0b11);
  at(1, 10).dispatch(2).at(1020).sleep(2);
  at(0, 40).dispatch(1).at(1100).epilogue(1, 13).at(1200).dispatch(1);
  at(1, 250).record(FTrace_EXT_idle_start);
  at(0, 300).epilogue(1, 13).at(1400).dispatch(1);
  at(1, 360).record(FTrace_EXT_idle_end);
  EXPECT_EQ(waits(500), (Texts{"11 100-200 unknown", "11 300-400 60 ns, 60 ns on 1"}))
      << "from the first idle state on it is known";
}

TEST_F(IdleWatchTest, SaysNothingOfThrottledThreads) {
  may_use(1, 0, 0b11);
  at(1, 10).dispatch(2).at(1020).sleep(2);
  at(0, 40).dispatch(1).at(1100).epilogue(1, 0, FTRACE_OFFCPU_THROTTLED).at(1200).dispatch(1);
  EXPECT_EQ(waits(300), Texts{"11 100-200 unknown"});
}

/// Its quota was raised meanwhile, for example.
TEST_F(IdleWatchTest, ARefillDoesNotStartTheWaitOfAPreemptedThreadAnew) {
  may_use(1, 0, 0b11);
  at(1, 10).dispatch(2).at(1020).sleep(2);
  at(0, 40).dispatch(1).at(1100).epilogue(1, 13, FTRACE_OFFCPU_PREEMPTED).dispatch(3);
  at(0, 150).record(FTrace_EXT_refill, 1).at(1200).epilogue(3, 11).dispatch(1);
  EXPECT_EQ(waits(300), (Texts{"11 100-200 100 ns, 100 ns on 1", "13 200-300 unknown"}));
}

TEST_F(IdleWatchTest, ReadsAMaskOfSeveralWords) {
  trace.cpu(30).at(1000).start().id(2, 12, 12, "t").at(1010).dispatch(2).at(1020).sleep(2);
  may_use(1, 0, 0b001);
  may_use(1, 0, 1u << FTRACE_AFFINITY_SHIFT | 1u << 6); // CPU 30
  may_use(2, 0, 0b010);
  at(0, 40).dispatch(1).at(1100).epilogue(1, 13).at(1200).dispatch(1);
  trace.cpu(30).at(1300).stop();
  EXPECT_EQ(waits(300), Texts{"11 100-200 100 ns, 100 ns on 3"});
}

/// A machine that schedules at random, and what it knows of every nanosecond.
class RandomMachine {
public:
  static constexpr uint16_t kCpus = 4, kThreads = 6;

  RandomMachine(TraceBuilder &trace, uint32_t seed) : trace_(trace), random_(seed) {
    for (uint16_t cpu = 0; cpu < kCpus; cpu++) {
      trace.cpu(cpu).at(kBegin).start();
      for (uint16_t n = 0; n < kThreads; n++)
        trace.cpu(cpu).id(n + 1, 11 + n, 11 + n, "t");
    }
    for (uint16_t n = 0; n < kThreads; n++)
      trace.cpu(0).snapshot(n + 1, kPaused, n % kCpus), threads_[n].cpu = n % kCpus;
    for (int step = 0; step < 200; step++) {
      pass(1 + random_() % 9);
      act(uint16_t(random_() % kThreads));
    }
    for (uint16_t cpu = 0; cpu < kCpus; cpu++)
      at(cpu).stop();
  }

  std::vector<std::string> waits; ///< that ended, in their order, with the causes of idle CPUs

private:
  static constexpr uint64_t kBegin = 1000;
  struct Thread {
    enum { sleeps, waits, runs } state = sleeps;
    uint32_t cpu = 0, mask = 0;
    uint64_t since = 0;
    uint32_t waits_on = 0;
    std::map<uint64_t, uint32_t> places; ///< where it waits, from a time on
    bool changed = false;
  };

  ChunkBuilder &at(uint32_t cpu) { return trace_.cpu(uint16_t(cpu)).at(kBegin + now_); }
  void pass(uint64_t ns) {
    for (; ns > 0; ns--, now_++)
      for (uint32_t cpu = 0; cpu < kCpus; cpu++)
        if (idle_[cpu])
          was_idle_[cpu].insert({now_, 1});
  }
  bool taken(uint32_t cpu) const {
    return std::any_of(std::begin(threads_), std::end(threads_),
                       [&](const Thread &t) { return t.state == Thread::runs && t.cpu == cpu; });
  }
  void act(uint16_t n) {
    Thread &thread = threads_[n];
    if (random_() % 12 == 0) {
      const uint32_t mask = 1 + random_() % 15;
      thread.changed |= mask != thread.mask;
      thread.mask = mask;
      at(random_() % kCpus).record(FTrace_EXT_affinity, n + 1, mask);
    } else if (thread.state == Thread::sleeps) {
      if (random_() % 2)
        move(n);
      at(random_() % kCpus).activate(n + 1);
      wait(thread);
    } else if (thread.state == Thread::waits) {
      if (random_() % 3 == 0)
        move(n);
      if (!taken(thread.cpu))
        dispatch(n);
    } else {
      leave(n);
    }
  }
  void move(uint16_t n) {
    threads_[n].cpu = random_() % kCpus;
    if (threads_[n].state == Thread::waits)
      threads_[n].places[now_] = threads_[n].cpu;
    at(random_() % kCpus).migrate(n + 1, threads_[n].cpu);
    pass(1); // what is logged on two CPUs at one time has no order
  }
  void wait(Thread &thread) {
    thread.state = Thread::waits;
    thread.since = now_;
    thread.waits_on = thread.cpu;
    thread.places = {{now_, thread.cpu}};
    thread.changed = thread.mask == 0;
  }
  void leave(uint16_t n) {
    Thread &thread = threads_[n];
    const uint32_t cpu = thread.cpu;
    uint16_t next = uint16_t(random_() % kThreads);
    const bool has_next = threads_[next].state == Thread::waits && threads_[next].cpu == cpu;
    const uint32_t next_tid = has_next ? 11 + next : 0;
    if (random_() % 2) {
      at(cpu).sleep(n + 1, next_tid);
      thread.state = Thread::sleeps;
    } else {
      at(cpu).epilogue(n + 1, next_tid);
      wait(thread);
    }
    idle_[cpu] = !has_next;
    if (has_next)
      dispatch(next);
  }
  void dispatch(uint16_t n) {
    Thread &thread = threads_[n];
    at(thread.cpu).dispatch(n + 1);
    thread.state = Thread::runs;
    idle_[thread.cpu] = false;
    std::string text = fmt::format("{} {}-{}", 11 + n, thread.since, now_);
    uint64_t ns[2] = {}; // that it may use, and others
    uint64_t causes[3] = {};
    std::map<uint32_t, uint64_t> of_cpu[2];
    for (uint64_t time = thread.since; time < now_; time++) {
      bool idle[2] = {};
      count_cause(causes, thread, time);
      for (uint32_t cpu = 0; cpu < kCpus; cpu++)
        if (cpu != thread.waits_on && was_idle_[cpu].contains(time)) {
          idle[!(thread.mask >> cpu & 1)] = true;
          of_cpu[!(thread.mask >> cpu & 1)][cpu]++;
        }
      ns[0] += idle[0];
      ns[1] += !idle[0] && idle[1];
    }
    if (thread.changed) {
      waits.push_back(text + " unknown");
      return;
    }
    const auto longest = [](const std::map<uint32_t, uint64_t> &cpus) {
      std::pair<uint32_t, uint64_t> best = {0, 0};
      for (const auto &one : cpus)
        best = one.second > best.second ? std::pair(one.first, one.second) : best;
      return fmt::format("{} ns on {}", best.second, best.first);
    };
    if (ns[0])
      text += fmt::format(" {} ns, {}", ns[0], longest(of_cpu[0]));
    if (ns[1])
      text += fmt::format("; may not: {} ns", ns[1]);
    if (!of_cpu[1].empty())
      text += fmt::format(", {}", longest(of_cpu[1]));
    waits.push_back(text + fmt::format("; causes {}", fmt::join(causes, " ")));
  }
  /// Adds one ns to the first cause that fits.
  void count_cause(uint64_t (&causes)[3], const Thread &thread, uint64_t time) const {
    const uint32_t here = std::prev(thread.places.upper_bound(time))->second;
    bool allowed = false, any = false;
    for (uint32_t cpu = 0; cpu < kCpus; cpu++)
      if (was_idle_[cpu].contains(time)) {
        any = true;
        allowed |= thread.mask >> cpu & 1;
      }
    if (thread.mask >> here & 1 && was_idle_[here].contains(time))
      causes[0]++;
    else if (allowed)
      causes[1]++;
    else if (any)
      causes[2]++;
  }

  TraceBuilder &trace_;
  std::mt19937 random_;
  uint64_t now_ = 0;
  Thread threads_[kThreads];
  bool idle_[kCpus] = {};
  std::map<uint64_t, int> was_idle_[kCpus];
};

TEST(IdleWatchProperty, AgreesWithASlowModelOfEachNanosecond) {
  size_t known = 0;
  for (uint32_t seed = 1; seed <= test::cases(300); seed++) {
    TempDir dir;
    TraceBuilder trace(dir.path());
    trace.json(kAll);
    RandomMachine machine(trace, seed);
    trace.write();
    CollectingSink sink;
    const auto source = open_trace({{dir.path()}}, sink);
    Waits found(source->catalog());
    replay_slices(*source, {}, found);
    ASSERT_GE(found.with_causes.size(), machine.waits.size());
    found.with_causes.resize(machine.waits.size()); // then those that did not end
    std::sort(found.with_causes.begin(), found.with_causes.end());
    std::sort(machine.waits.begin(), machine.waits.end());
    ASSERT_EQ(found.with_causes, machine.waits) << "seed " << seed;
    for (const std::string &text : found.with_causes)
      known += text.find(" on ") != std::string::npos;
  }
  EXPECT_GT(known, 500u);
}

/// Threads of one CPU that wait for it, on a host with two CPUs.
class IdleWatchRoom : public ::testing::Test {
protected:
  IdleWatchRoom() {
    catalog.hosts = {{"one"}};
    catalog.hosts[0].all_threads = true;
    catalog.cpus = {{0, 0}, {1, 0}};
    for (uint32_t tid = 1; tid <= 4; tid++)
      catalog.threads.push_back({.tid = tid, .name = "t"});
    system.emplace(catalog, SystemOptions{});
  }
  void event(uint32_t kind, uint32_t thread, uint32_t par2 = 0) {
    watch.on_event({.time = ++now, .kind = kind, .thread = thread, .cpu = 0, .par2 = par2},
                   *system);
  }
  /// Starts a wait, and returns whether anything is known of it.
  bool knows(uint32_t thread) {
    event(FTrace_EVT_task_epilogue, thread, 9);
    return watch.of({.thread = thread, .start = now, .end = now + 5}).known;
  }

  Catalog catalog;
  std::optional<System> system;
  IdleWatch watch{4}; // times of CPUs: those of two waits, and of two masks beside that of the host
  uint64_t now = 0;
};

TEST_F(IdleWatchRoom, WaitsOfMoreThreadsThanFitAreNotKnown) {
  for (uint32_t thread = 0; thread < 4; thread++)
    event(FTrace_EXT_affinity, thread, 0b11);
  for (int round = 0; round < 2; round++)
    for (uint32_t thread = 0; thread < 4; thread++)
      EXPECT_EQ(knows(thread), thread < 2) << thread;
  event(FTrace_EVT_task_end, 1);
  EXPECT_TRUE(knows(3)) << "the end of a thread leaves room";
  EXPECT_FALSE(knows(2));
}

TEST_F(IdleWatchRoom, MoreMasksThanFitAreNotKnown) {
  event(FTrace_EXT_affinity, 0, 0b00);
  event(FTrace_EXT_affinity, 1, 0b01);
  event(FTrace_EXT_affinity, 2, 0b10);
  event(FTrace_EXT_affinity, 3, 0b11); // that of the host
  EXPECT_FALSE(knows(2));
  EXPECT_TRUE(knows(3));
  event(FTrace_EXT_affinity, 1, 0b11); // leaves room
  event(FTrace_EXT_affinity, 2, 0b10);
  EXPECT_TRUE(knows(2));
}

} // namespace
} // namespace ovnitrace
