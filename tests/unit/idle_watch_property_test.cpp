// SPDX-License-Identifier: BSD-2-Clause
// Whether another CPU was idle while a thread waited, on random machines: each nanosecond of a slow
// model agrees with emulator/slices/idle_watch.
#include "tests/unit/support/cases.h"
#include "tests/unit/support/idle_waits.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <random>
#include <utility>

namespace ovnitrace {
namespace {

using test::ChunkBuilder;
using test::CollectingSink;
using test::kAllThreads;
using test::kPaused;
using test::TempDir;
using test::TraceBuilder;
using test::Waits;

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
  for (uint32_t seed = 1; seed <= test::cases(120); seed++) {
    TempDir dir;
    TraceBuilder trace(dir.path());
    trace.json(kAllThreads);
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
  EXPECT_GT(known, 200u);
}

} // namespace
} // namespace ovnitrace
