// SPDX-License-Identifier: BSD-2-Clause
// What `ovnitrace info` adds up.
#include "emulator/summary/groups.h"
#include "emulator/summary/names.h"
#include "emulator/summary/pair_table.h"
#include "tests/unit/support/ovni_streams.h"
#include "tests/unit/support/random_schedule.h"
#include "tests/unit/support/summed.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <tuple>
#include <vector>

namespace ovnitrace {
namespace {

using test::random_schedule;
using test::sum_up;
using test::Summed;
using test::TempDir;
using test::TraceBuilder;

uint64_t time_in(const ThreadSummary &thread, ThreadState state) {
  return thread.time[size_t(state)];
}

TEST(Summary, AddsUpStatesSwitchesAndLatencies) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  trace.cpu(0).at(1000).start().id(1, 10, 10, "main").snapshot(1, 1, 0);
  trace.cpu(0).at(1400).id(2, 11, 10, "child", 1400).create(2, 11).activate_new(2, 10);
  trace.cpu(0).at(1500).epilogue(1, 11).dispatch(2);
  trace.cpu(0).at(1700).epilogue(2, 10, FTRACE_OFFCPU_YIELDED).dispatch(1);
  trace.cpu(0).at(1800).sleep(1, 11);
  trace.cpu(0).at(2000).activate(1, 11).activate(1, 11); // the second is no transition
  trace.cpu(0).migrate(1, 1).at(3000).stop();
  trace.cpu(1).at(1000).start().at(1850).id(1, 11, 10, "child", 1400).dispatch(1);
  trace.cpu(1).at(1900).end(1, 11);
  trace.cpu(1).at(2300).id(2, 10, 10, "main").dispatch(2).at(3000).stop();
  const Summed summed = sum_up(trace, dir.path());

  const ThreadSummary &main = summed.thread(10);
  EXPECT_EQ(time_in(main, ThreadState::Unknown), 0u);
  EXPECT_EQ(time_in(main, ThreadState::Running), 500u + 100 + 700);
  EXPECT_EQ(time_in(main, ThreadState::Cooling), 200u);
  EXPECT_EQ(time_in(main, ThreadState::Paused), 200u);
  EXPECT_EQ(time_in(main, ThreadState::Warming), 300u);
  EXPECT_EQ(main.alive(), 2000u);
  EXPECT_EQ(main.preempted, 1u);
  EXPECT_EQ(main.yielded, 0u);
  EXPECT_EQ(main.voluntary, 1u);
  EXPECT_EQ(main.switches(), 2u);
  EXPECT_EQ(main.wakeups, 1u);
  EXPECT_EQ(main.migrations, 1u);
  EXPECT_EQ(main.latency.count(), 1u);
  EXPECT_EQ(main.latency.max(), 300u);

  const ThreadSummary &child = summed.thread(11);
  EXPECT_EQ(time_in(child, ThreadState::Running), 250u);
  EXPECT_EQ(time_in(child, ThreadState::Warming), 100u);
  EXPECT_EQ(time_in(child, ThreadState::Cooling), 150u);
  EXPECT_EQ(child.alive(), 500u); // not before its birth, not after its end
  EXPECT_EQ(child.yielded, 1u);
  EXPECT_EQ(child.voluntary, 1u);
  EXPECT_EQ(child.latency.max(), 100u);

  EXPECT_EQ(summed.summary.cpus[0].busy, 800u);
  EXPECT_EQ(summed.summary.cpus[0].switches, 2u); // a snapshot is no switch
  EXPECT_EQ(summed.summary.cpus[1].busy, 750u);
  EXPECT_EQ(summed.summary.cpus[1].switches, 2u);
  EXPECT_EQ(sorted_threads(summed.summary, "running"), (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(sorted_threads(summed.summary, "cooling"), (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(sorted_threads(summed.summary, "latency"), (std::vector<uint32_t>{0, 1}));
}

// Since when is not known, and nothing has happened.
TEST(Summary, CountsNothingForAStateThatIsOnlyKnown) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  trace.cpu(0).at(1000).start().id(1, 10, 10, "runs").record(FTrace_EXT_state, 1, 1);
  trace.cpu(0).id(2, 11, 10, "was woken").record(FTrace_EXT_state, 2, 5);
  trace.cpu(0).at(1500).sleep(1, 11).dispatch(2).at(2000).stop();
  const Summed summed = sum_up(trace, dir.path());
  EXPECT_EQ(summed.summary.events, 4u);
  EXPECT_EQ(summed.summary.cpus[0].switches, 1u);
  EXPECT_EQ(summed.summary.cpus[0].busy, 1000u);
  EXPECT_EQ(time_in(summed.thread(10), ThreadState::Running), 500u);
  EXPECT_EQ(time_in(summed.thread(11), ThreadState::Warming), 500u);
  EXPECT_EQ(summed.thread(11).wakeups, 0u);
  EXPECT_EQ(summed.thread(11).latency.count(), 0u);
}

TEST(Summary, KnowsNothingOfABlackout) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  trace.cpu(0).at(0).start().id(1, 10, 10, "here").dispatch(1);
  trace.cpu(0).at(200).blackout_start().at(500).blackout_end(17).at(600).dispatch(1);
  trace.cpu(0).at(1000).stop();
  trace.cpu(1).at(0).start().id(1, 20, 20, "elsewhere").dispatch(1).at(300).sleep(1);
  trace.cpu(1).at(700).activate(1).at(800).dispatch(1).at(1000).stop();
  const Summed summed = sum_up(trace, dir.path());

  const ThreadSummary &here = summed.thread(10);
  EXPECT_EQ(time_in(here, ThreadState::Running), 200u + 400);
  EXPECT_EQ(time_in(here, ThreadState::Unknown), 400u); // until its next event
  const ThreadSummary &elsewhere = summed.thread(20);
  EXPECT_EQ(time_in(elsewhere, ThreadState::Running), 300u + 200);
  EXPECT_EQ(time_in(elsewhere, ThreadState::Unknown), 400u); // it left its CPU in the blackout
  EXPECT_EQ(time_in(elsewhere, ThreadState::Warming), 100u);
  EXPECT_EQ(elsewhere.voluntary, 1u);
  EXPECT_EQ(summed.summary.lost, 17u);
  EXPECT_EQ(summed.summary.cpus[0].lost, 17u);
  EXPECT_EQ(summed.summary.cpus[1].lost, 0u);
}

// Its count is in the file of every CPU. Events that a flight recorder let go were not lost.
TEST(Summary, CountsALossSomewhereOnceAndTheForgottenApart) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  for (uint32_t cpu : {0, 1}) {
    trace.cpu(cpu).at(0).start().record(FTrace_EVT_blackout_start, FTRACE_BLACKOUT_FORGOTTEN);
    trace.cpu(cpu).at(100).record(FTrace_EVT_blackout_end, FTRACE_BLACKOUT_FORGOTTEN, 1000);
    trace.cpu(cpu).at(200).record(FTrace_EVT_blackout_start, FTRACE_BLACKOUT_SOMEWHERE);
    trace.cpu(cpu).at(300).record(FTrace_EVT_blackout_end, FTRACE_BLACKOUT_SOMEWHERE, 10 + 7 * cpu);
  }
  trace.cpu(0).at(400).blackout_start().at(500).blackout_end(5).at(1000).stop();
  trace.cpu(1).at(1000).stop();
  const Summed summed = sum_up(trace, dir.path());
  EXPECT_EQ(summed.summary.lost, 17u + 5);
  EXPECT_EQ(summed.summary.forgotten, 2000u);
  EXPECT_EQ(summed.summary.cpus[0].lost, 5u);
  EXPECT_EQ(summed.summary.cpus[1].lost, 0u);
}

// Each CPU of a host has the losses of that host.
TEST(Summary, AddsUpTheLossesOfHosts) {
  TempDir dirs[2];
  for (uint32_t host : {0, 1}) {
    TraceBuilder trace(dirs[host].path());
    for (uint16_t cpu : {0, 1}) {
      trace.cpu(cpu).at(0).start().record(FTrace_EVT_blackout_start, FTRACE_BLACKOUT_SOMEWHERE);
      trace.cpu(cpu).at(9).record(FTrace_EVT_blackout_end, FTRACE_BLACKOUT_SOMEWHERE,
                                  10 * host + cpu + 5);
      trace.cpu(cpu).at(100).stop();
    }
    trace.write();
  }
  test::CollectingSink sink;
  EXPECT_EQ(summarize(*open_trace({{dirs[0].path()}, {dirs[1].path()}}, sink)).lost, 6u + 16);
}

// The event of the migration was lost or filtered out.
TEST(Summary, ADispatchOnAnotherCpuIsAMigration) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  auto &one = trace.cpu(0).at(0).start().id(1, 10, 10, "moves").id(2, 11, 11, "stays").dispatch(1);
  one.at(100).sleep(1, 11).dispatch(2).at(200).sleep(2).at(250).activate(1).at(300).dispatch(2);
  one.at(900).stop();
  auto &two = trace.cpu(1).at(0).start().id(1, 10, 10, "moves").at(260).dispatch(1);
  two.at(400).sleep(1).at(500).blackout_start().at(600).blackout_end(3).at(900).stop();
  trace.cpu(2).at(0).start().id(1, 10, 10, "moves").at(700).dispatch(1).at(900).stop();
  const Summed summed = sum_up(trace, dir.path());
  EXPECT_EQ(summed.thread(10).migrations, 2u);
  EXPECT_EQ(summed.thread(11).migrations, 0u);
}

TEST(Summary, AThreadThatIsMovedByAnotherMigrates) {
  TempDir dir;
  const auto move = [](uint64_t time, int32_t tid) {
    return test::stream_event("OAr", time, test::bytes_of(int32_t(1)) + test::bytes_of(tid));
  };
  test::write_stream(dir, "n", 10, 10,
                     test::execute(100, 0) + move(300, 11) + move(400, 99) +
                         test::stream_event("OHe", 900));
  test::write_stream(dir, "n", 10, 11,
                     test::execute(110, -1) + test::stream_event("OHp", 200) +
                         test::stream_event("OHe", 950));
  test::CollectingSink sink;
  const auto source = open_trace({{dir.path()}}, sink);
  const Summary summary = summarize(*source);
  ASSERT_EQ(source->catalog().threads[1].tid, 11u);
  EXPECT_EQ(summary.threads[0].migrations, 0u);
  EXPECT_EQ(summary.threads[1].migrations, 1u);
}

TEST(Summary, AThreadThatCoolsInOvniIsPreempted) {
  TempDir dir;
  test::write_stream(dir, "n", 10, 10,
                     test::execute(100, 0) + test::stream_event("OHc", 200) +
                         test::stream_event("OHr", 300) + test::stream_event("OHc", 400) +
                         test::stream_event("OHe", 900));
  test::CollectingSink sink;
  const Summary summary = summarize(*open_trace({{dir.path()}}, sink));
  EXPECT_EQ(summary.threads[0].preempted, 2u);
}

/// Whatever happens, legal or not: a thread is in one state at any time, a CPU runs one thread.
TEST(Summary, AddsUpToTheWholeTraceForAnySchedule) {
  std::mt19937 random(4);
  for (int round = 0; round < 100; round++) {
    TempDir dir;
    TraceBuilder trace(dir.path());
    const uint64_t time = random_schedule(trace, random);
    const Summed summed = sum_up(trace, dir.path());
    uint64_t running = 0, busy = 0;
    for (const ThreadSummary &thread : summed.summary.threads) {
      ASSERT_EQ(thread.alive() + time_in(thread, ThreadState::Dead), time - 100);
      running += thread.running();
    }
    for (const CpuSummary &cpu : summed.summary.cpus) {
      ASSERT_LE(cpu.busy, time - 100);
      busy += cpu.busy;
    }
    ASSERT_EQ(running, busy);
  }
}

// A blackout that starts within another goes on with it.
TEST(Summary, ABlackoutWithinABlackoutIsOne) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  trace.cpu(0).at(0).start().at(200).blackout_start().at(300).blackout_start();
  trace.cpu(0).at(500).blackout_end(5).at(600).blackout_end(6).at(1000).stop();
  const Summed summed = sum_up(trace, dir.path());
  EXPECT_EQ(summed.summary.cpus[0].unknown, 300u);
  EXPECT_EQ(summed.summary.lost, 11u);
}

// An event need not be of a CPU.
TEST(Summary, LossesOfNoCpuCountForTheWhole) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  trace.cpu(0).at(0).start().at(100).stop();
  trace.write();
  test::CollectingSink sink;
  const auto source = open_trace({{dir.path()}}, sink);
  Summarizer summarizer(source->catalog(), {});
  const System system(source->catalog(), {});
  for (const uint32_t lost : {5, 6}) {
    Event event;
    event.kind = FTrace_EVT_blackout_end;
    event.par2 = lost;
    summarizer.on_event(event, system);
  }
  const Summary summary = summarizer.finish();
  EXPECT_EQ(summary.lost, 11u);
  EXPECT_EQ(summary.cpus[0].lost, 0u);
}

TEST(Summary, CutCountsOnlyWhatHappenedInIt) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  auto &cpu = trace.cpu(0).at(1000).start().id(1, 11, 10, "a").id(2, 22, 20, "b").dispatch(1);
  cpu.at(1100).epilogue(1, 22).dispatch(2).at(1200).sleep(2, 11).dispatch(1);
  cpu.at(1300).activate(2, 11).at(1400).epilogue(1, 22).dispatch(2).at(2000).stop();
  Cut cut;
  cut.from = 100;
  cut.to = 350;
  const Summed middle = sum_up(trace, dir.path(), cut);
  EXPECT_EQ(middle.summary.events, 5u); // the first and the last instant belong to it
  EXPECT_EQ(middle.thread(11).preempted, 1u);
  EXPECT_EQ(time_in(middle.thread(11), ThreadState::Cooling), 100u);
  EXPECT_EQ(middle.thread(11).running(), 150u);
  EXPECT_EQ(time_in(middle.thread(22), ThreadState::Warming), 50u);
  EXPECT_EQ(middle.thread(22).wakeups, 1u);
  EXPECT_EQ(middle.thread(22).latency.count(), 0u) << "its end is not in the cut";
  EXPECT_EQ(middle.summary.cpus[0].busy, 250u);
  EXPECT_EQ(middle.summary.cpus[0].switches, 2u);
  cut = {};
  cut.pids = {20};
  const Summed one = sum_up(trace, dir.path(), cut);
  EXPECT_EQ(sorted_threads(one.summary, "running"), (std::vector<uint32_t>{1}));
  EXPECT_EQ(one.summary.cpus[0].busy, 700u);
  EXPECT_EQ(one.thread(22).latency.count(), 1u);
  EXPECT_EQ(one.thread(22).latency_max_at, 1400u);
}

using Pairs = std::vector<std::vector<int64_t>>;

/// {tid, tid of the peer or -1 for an interrupt, count}
Pairs pairs_of(const Summed &summed, const std::vector<PairCount> &pairs) {
  Pairs all;
  for (const PairCount &pair : pairs) {
    const uint32_t tid = pair.peer == kNone ? pair.tid : summed.catalog.threads[pair.peer].tid;
    all.push_back({summed.catalog.threads[pair.thread].tid, tid == kNone ? -1 : int64_t(tid),
                   int64_t(pair.count)});
  }
  return all;
}

TEST(Summary, CountsPreemptersAndWakers) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "a").id(2, 22, 22, "b");
  for (int round = 1; round <= 3; round++) {
    cpu.at(uint64_t(round) * 100).dispatch(1).epilogue(1, 22).dispatch(2).sleep(2, 11);
    cpu.activate(2, round == 3 ? 99 : 11).dispatch(1).epilogue(1, 0, FTRACE_OFFCPU_YIELDED);
  }
  cpu.dispatch(2).sleep(2).activate(2, 11, FTRACE_WAKER_HARDIRQ).dispatch(2).sleep(2);
  cpu.activate(2, 11, FTRACE_WAKER_SOFTIRQ).dispatch(2).epilogue(2, 77).at(1000).stop();
  const Summed summed = sum_up(trace, dir.path());
  EXPECT_EQ(pairs_of(summed, summed.summary.preemptions), (Pairs{{11, 22, 3}, {22, 77, 1}}));
  EXPECT_EQ(pairs_of(summed, summed.summary.wakeups),
            (Pairs{{22, 11, 2}, {22, -1, 2}, {22, 99, 1}}));
}

// A tid that is not traced may belong to several programs, one after the other.
TEST(Summary, NamesAPeerAsItWasCalledAtTheTime) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  trace.json(R"({"version": 1, "peers": [
    {"tid": 50, "pid": 50, "name": "make", "since_ns": 0},
    {"tid": 50, "pid": 50, "name": "cc1", "since_ns": 300},
    {"tid": 60, "pid": 60, "name": "waker", "since_ns": 0}]})");
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "a").dispatch(1);
  for (uint64_t time : {100, 200, 299})
    cpu.at(time).epilogue(1, 50).dispatch(1);
  for (uint64_t time : {300, 400})
    cpu.at(time).epilogue(1, 50).dispatch(1);
  cpu.at(500).epilogue(1, 70).dispatch(1).at(600).sleep(1).activate(1, 50).dispatch(1);
  cpu.at(700).sleep(1).activate(1, 60).dispatch(1).at(1000).stop();
  const Summed summed = sum_up(trace, dir.path());
  std::vector<std::string> names;
  for (const auto &pairs : {summed.summary.preemptions, summed.summary.wakeups})
    for (const PairCount &pair : pairs)
      names.push_back(peer_name(summed.catalog, pair));
  EXPECT_EQ(pairs_of(summed, summed.summary.preemptions),
            (Pairs{{11, 50, 3}, {11, 50, 2}, {11, 70, 1}}));
  EXPECT_EQ(names, (std::vector<std::string>{"make", "cc1", "", "cc1", "waker"}));
}

TEST(PairTable, CountsAsAPlainMapDoes) {
  std::mt19937 random(5);
  PairTable table(4);
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, uint64_t> plain;
  for (int i = 0; i < 5000; i++) {
    const uint32_t thread = random() % 4, peer = random() % 3;
    const Peer who = random() % 2 ? Peer{peer + 1, peer} : Peer{peer, kNone};
    table.add(thread, who, kNone);
    plain[{thread, who.thread, who.thread == kNone ? who.tid : kNone}]++;
  }
  table.add(0, Peer{}, kNone); // nobody knows who
  const std::vector<PairCount> pairs = table.sorted({});
  EXPECT_EQ(pairs.size(), plain.size());
  for (size_t n = 0; n < pairs.size(); n++) {
    const PairCount &pair = pairs[n];
    EXPECT_EQ(pair.count, (plain[{pair.thread, pair.peer, pair.tid}]));
    EXPECT_TRUE(n == 0 || pairs[n - 1].count >= pair.count);
  }
}

// What a snapshot finds waiting was woken before: since when is not known.
TEST(Summary, ASnapshotIsNoWakeup) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  trace.cpu(0)
      .at(1000)
      .start()
      .id(1, 10, 10, "waits")
      .snapshot(1, 5, 0)
      .at(1200)
      .dispatch(1)
      .at(2000)
      .stop();
  const Summed summed = sum_up(trace, dir.path());
  EXPECT_EQ(summed.thread(10).wakeups, 0u);
  EXPECT_EQ(summed.thread(10).latency.count(), 0u);
  EXPECT_EQ(time_in(summed.thread(10), ThreadState::Warming), 200u);
}

TEST(Summary, EachCpuHasItsBusyAndItsUnknownTime) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  trace.cpu(0).at(1000).start().id(1, 10, 10, "a").dispatch(1).at(1100).sleep(1);
  trace.cpu(0).at(1200).blackout_start().at(1230).blackout_end(1);
  trace.cpu(0).at(1500).blackout_start().at(1504).blackout_end(2).at(2000).stop();
  trace.cpu(1).at(1000).start().id(1, 20, 20, "b").dispatch(1).at(1300).sleep(1).at(1400);
  trace.cpu(1).activate(1).dispatch(1).at(1450).sleep(1).at(2000).stop();
  const Summed summed = sum_up(trace, dir.path());
  EXPECT_EQ(summed.summary.cpus[0].unknown, 34u);
  EXPECT_EQ(summed.summary.cpus[1].unknown, 0u);
  EXPECT_EQ(summed.summary.cpus[0].busy, 100u);
  EXPECT_FALSE(summed.summary.cpus[0].lost_more);
}

} // namespace
} // namespace ovnitrace
