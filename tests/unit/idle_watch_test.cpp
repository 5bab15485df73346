// SPDX-License-Identifier: BSD-2-Clause
// Whether another CPU was idle while a thread waited: emulator/slices/idle_watch.
#include "tests/unit/support/idle_waits.h"

#include <optional>

namespace ovnitrace {
namespace {

using test::ChunkBuilder;
using test::CollectingSink;
using test::kAllThreads;
using test::kPaused;
using test::TempDir;
using test::TraceBuilder;
using test::Waits;

class IdleWatchTest : public ::testing::Test {
protected:
  IdleWatchTest() : trace(dir.path()) {
    trace.json(kAllThreads);
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

TEST_F(IdleWatchTest, ACpuIsNotIdleAfterALossOfItsEvents) {
  may_use(1, 0, 0b011);
  at(1, 10).dispatch(2).at(1020).sleep(2);
  at(0, 40).dispatch(1).at(1100).epilogue(1, 13);
  at(1, 120).record(FTrace_EVT_blackout_start, FTRACE_BLACKOUT_FAMILIES);
  at(1, 130).record(FTrace_EVT_blackout_end, FTRACE_BLACKOUT_FAMILIES, 1);
  at(1, 150).record(FTrace_EVT_blackout_start, FTRACE_BLACKOUT_TRANSITIONS);
  at(1, 160).record(FTrace_EVT_blackout_end, FTRACE_BLACKOUT_TRANSITIONS, 1);
  at(0, 170).dispatch(1).at(1180).epilogue(1, 13).at(1200).dispatch(1);
  EXPECT_EQ(waits(300), (Texts{"11 100-150 50 ns, 50 ns on 1", "11 180-200"}))
      << "it has states in the first one";
}

/// A thread that ends does not name its successor.
TEST_F(IdleWatchTest, ACpuIsIdleAfterTheEndOfAThreadUnlessAnotherOneIsDispatched) {
  may_use(1, 0, 0b111);
  at(0, 10).dispatch(1).at(1100).epilogue(1, 99);
  at(1, 20).dispatch(2).at(1110).end(2, 0).at(1190).record(FTrace_EXT_idle_end);
  at(2, 20).dispatch(3).at(1120).end(3, 0).dispatch(4);
  at(0, 200).dispatch(1);
  EXPECT_EQ(waits(300), Texts{"11 100-200 90 ns, 90 ns on 1"})
      << "the threads say when a CPU is idle, not its idle states";
}

TEST_F(IdleWatchTest, ARefilledThreadWaitsFromTheRefillOn) {
  may_use(1, 0, 0b11);
  at(1, 10).dispatch(2).at(1020).sleep(2);
  at(0, 40).dispatch(1).at(1100).epilogue(1, 0, FTRACE_OFFCPU_THROTTLED);
  at(0, 150).record(FTrace_EXT_refill, 1).at(1200).dispatch(1);
  EXPECT_EQ(waits(300), (Texts{"11 100-150 unknown", "11 150-200 50 ns, 50 ns on 1"}));
}

TEST_F(IdleWatchTest, AThreadMayUseTheCpusOfItsHost) {
  TempDir other;
  TraceBuilder second(other.path());
  second.json(kAllThreads);
  auto &cpu = second.cpu(0).at(1000).start().id(1, 21, 21, "u").id(2, 22, 22, "v");
  cpu.record(FTrace_EXT_affinity, 1, 0b10).at(1030).dispatch(1).at(1100).epilogue(1, 99);
  cpu.at(1200).dispatch(1).at(1300).stop();
  auto &idle = second.cpu(1).at(1000).start().id(2, 22, 22, "v").at(1010).dispatch(2);
  idle.at(1150).sleep(2, 0).at(1300).stop();
  second.write();
  at(1, 10).dispatch(2).at(1020).sleep(2); // idle too, but of the first host
  EXPECT_EQ(waits(300, {{other.path()}}), Texts{"21 100-200 50 ns, 50 ns on 4"});
}

TEST_F(IdleWatchRoom, AMaskHasABitForEachOfManyCpus) {
  catalog.cpus.clear();
  for (uint32_t cpu = 0; cpu < 70; cpu++)
    catalog.cpus.push_back({cpu, 0});
  system.emplace(catalog, SystemOptions{});
  watch = IdleWatch(1000);
  constexpr uint32_t kThird = 2u << FTRACE_AFFINITY_SHIFT; // CPUs 48 to 71
  event(FTrace_EXT_affinity, 0, 0b1);
  event(FTrace_EXT_affinity, 0, kThird | 1u << 15 | 1u << 16 | 1u << 21 | 1u << 22);
  std::vector<uint8_t> cpus;
  EXPECT_TRUE(watch.add_allowed(0, cpus));
  EXPECT_FALSE(watch.add_allowed(1, cpus)) << "without a first word";
  event(FTrace_EXT_affinity, 1, kThird | 1u << 17);
  EXPECT_FALSE(watch.add_allowed(1, cpus));
  EXPECT_FALSE(watch.add_allowed(4, cpus));
  event(FTrace_EXT_affinity, 1, 1u << 23);
  EXPECT_TRUE(watch.add_allowed(1, cpus));
  ASSERT_EQ(cpus.size(), 70u);
  std::vector<uint32_t> allowed;
  for (uint32_t cpu = 0; cpu < 70; cpu++)
    if (cpus[cpu])
      allowed.push_back(cpu);
  EXPECT_EQ(allowed, (std::vector<uint32_t>{0, 23, 63, 64, 69}));
}

} // namespace
} // namespace ovnitrace
