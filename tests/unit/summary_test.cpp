// SPDX-License-Identifier: BSD-2-Clause
// `ovnitrace info`: what is added up, and how it is printed.
#include "emulator/base/human.h"
#include "emulator/open/open_trace.h"
#include "emulator/summary/groups.h"
#include "emulator/summary/report.h"
#include "emulator/summary/summarizer.h"
#include "emulator/summary/table.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/random_schedule.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <map>
#include <random>
#include <sstream>

namespace ovnitrace {
namespace {

using test::CollectingSink;
using test::random_schedule;
using test::TempDir;
using test::TraceBuilder;

TEST(LatencyHistogram, IsExactForSmallValuesAndTheMaximum) {
  LatencyHistogram histogram;
  EXPECT_EQ(histogram.percentile(50), 0u);
  for (uint64_t ns = 0; ns < 32; ns++)
    histogram.add(ns);
  EXPECT_EQ(histogram.percentile(50), 15u);
  EXPECT_EQ(histogram.percentile(0), 0u);
  EXPECT_EQ(histogram.percentile(100), 31u);
  histogram.add(UINT64_MAX);
  EXPECT_EQ(histogram.max(), UINT64_MAX);
  EXPECT_EQ(histogram.percentile(100), UINT64_MAX);
  EXPECT_EQ(histogram.count(), 33u);
}

TEST(LatencyHistogram, IsOffByAtMostOne64thOfTheValue) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 200; round++) {
    LatencyHistogram histogram;
    std::vector<uint64_t> values;
    for (size_t i = 0; i < 1 + random() % 500; i++) {
      values.push_back(random() >> (random() % 64)); // of every magnitude
      histogram.add(values.back());
    }
    std::sort(values.begin(), values.end());
    for (double percent : {0.0, 1.0, 50.0, 90.0, 99.0, 100.0}) {
      const size_t rank = size_t(std::ceil(double(values.size()) * percent / 100));
      const uint64_t exact = values[std::max<size_t>(rank, 1) - 1];
      const uint64_t found = histogram.percentile(percent);
      const uint64_t off = found > exact ? found - exact : exact - found;
      ASSERT_LE(off, exact / 64) << percent << " % of " << values.size() << ": " << exact;
    }
  }
}

TEST(Human, WritesDurationsCountsAndParts) {
  EXPECT_EQ(human_duration(0), "0");
  EXPECT_EQ(human_duration(999), "999 ns");
  EXPECT_EQ(human_duration(1000), "1.000 us");
  EXPECT_EQ(human_duration(9999), "9.999 us");
  EXPECT_EQ(human_duration(10000), "10.00 us"); // four digits from here on, too
  EXPECT_EQ(human_duration(100000), "100.0 us");
  EXPECT_EQ(human_duration(56789), "56.79 us");
  EXPECT_EQ(human_duration(123456789), "123.5 ms");
  EXPECT_EQ(human_duration(1234000000), "1.234 s");
  EXPECT_EQ(human_duration(98765000000000), "98765.0 s");
  EXPECT_EQ(human_count(0), "0");
  EXPECT_EQ(human_count(999), "999");
  EXPECT_EQ(human_count(1000), "1,000");
  EXPECT_EQ(human_count(1234567), "1,234,567");
  EXPECT_EQ(human_percent(1, 8), "12.5 %");
  EXPECT_EQ(human_percent(0, 0), "-");
}

TEST(Table, AlignsCharactersNotBytes) {
  Table table({"A", "LONG"});
  table.add({"é", "1"});
  table.add({"abc", "12345"});
  EXPECT_EQ(table.text(), "A     LONG\n"
                          "é        1\n"
                          "abc  12345\n");
}

struct Summed {
  Catalog catalog;
  Summary summary;

  const ThreadSummary &thread(uint32_t tid) const {
    for (size_t i = 0; i < catalog.threads.size(); i++)
      if (catalog.threads[i].tid == tid)
        return summary.threads[i];
    throw std::runtime_error("no such thread");
  }
};

Summed sum_up(TraceBuilder &trace, const std::string &path, const Cut &cut = {}) {
  trace.write();
  CollectingSink sink;
  const auto source = open_trace({{path}}, sink);
  return {source->catalog(), summarize(*source, cut)};
}

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
  EXPECT_EQ(child.alive(), 500u); // not before its birth, not behind its end
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
TEST(Summary, CountsNothingForAStateThatIsOnlyTold) {
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

// Its count stands in the file of every CPU; and what a flight recorder let go was not lost.
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

TEST(Summary, OfACutIsWhatHappenedInIt) {
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

TEST(Summary, KnowsWhoPreemptedWhomAndWhoWokeWhom) {
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

TEST(PairTable, CountsAsAPlainMapDoes) {
  std::mt19937 random(5);
  PairTable table(4);
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, uint64_t> plain;
  for (int i = 0; i < 5000; i++) {
    const uint32_t thread = random() % 4, peer = random() % 3;
    const Peer who = random() % 2 ? Peer{peer + 1, peer} : Peer{peer, kNone};
    table.add(thread, who);
    plain[{thread, who.thread, who.thread == kNone ? who.tid : kNone}]++;
  }
  table.add(0, Peer{}); // nobody knows who
  const std::vector<PairCount> pairs = table.sorted();
  EXPECT_EQ(pairs.size(), plain.size());
  for (size_t n = 0; n < pairs.size(); n++) {
    const PairCount &pair = pairs[n];
    EXPECT_EQ(pair.count, (plain[{pair.thread, pair.peer, pair.tid}]));
    EXPECT_TRUE(n == 0 || pairs[n - 1].count >= pair.count);
  }
}

TEST(Summary, AddsUpWhatTheFamiliesRecorded) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  constexpr uint16_t kSoft = FTRACE_INTERRUPT_SOFT | 1, kVector = FTRACE_INTERRUPT_VECTOR | 0xec;
  auto &cpu = trace.cpu(0).at(1000).start().id(1, 11, 11, "a").dispatch(1);
  const auto section = [&](uint64_t time, uint32_t code, uint32_t number) {
    cpu.at(time).record(uint16_t(code), 0, number);
  };
  const auto interrupt = [&](uint64_t time, uint32_t code, uint16_t which) {
    cpu.at(time).record(uint16_t(code), which, 11);
  };
  section(1010, FTrace_EVT_user_event_13, 7);
  section(1020, FTrace_EVT_user_event_13, 8);
  interrupt(1030, FTrace_EVT_interrupt_start, kSoft);
  interrupt(1040, FTrace_EVT_interrupt_start, kVector);
  interrupt(1045, FTrace_EVT_interrupt_end, kVector);
  interrupt(1060, FTrace_EVT_interrupt_end, kSoft);
  interrupt(1061, FTrace_EVT_interrupt_end, kSoft); // its start was not seen
  section(1070, FTrace_EVT_user_event_14, 8);
  section(1110, FTrace_EVT_user_event_14, 7);
  cpu.at(1200).record(FTrace_EVT_mutex_wait, 1, 0x40).at(1230);
  cpu.record(FTrace_EVT_mutex_lock, 1, 0x40 | FTRACE_FUTEX_PLAIN);
  cpu.at(1300).record(FTrace_EVT_mutex_wait, 1, 0x40).at(1400);
  cpu.record(FTrace_EVT_mutex_lock, 1, 0x40 | FTRACE_FUTEX_PLAIN | FTRACE_FUTEX_GAVE_UP);
  cpu.at(1500).record(FTrace_EVT_mutex_wait, 1, 0x40).record(FTrace_filter_mutex, 1);
  cpu.at(1600).record(FTrace_EVT_mutex_lock, 1, 0x40); // it may have waited twice
  cpu.at(1700).record(FTrace_EVT_interrupt_start, kVector, 11).at(1710).blackout_start();
  cpu.at(1720).blackout_end(1).record(FTrace_EVT_interrupt_end, kVector, 11).at(2000).stop();
  const Summed summed = sum_up(trace, dir.path());
  const Spans &waits = summed.thread(11).mutex_waits;
  EXPECT_EQ(waits.count, 2u);
  EXPECT_EQ(waits.time, 130u);
  EXPECT_EQ(waits.max, 100u);
  EXPECT_EQ(waits.max_at, 1400u);
  EXPECT_EQ(summed.thread(11).waits_given_up, 1u);
  ASSERT_EQ(summed.summary.sections.size(), 2u);
  EXPECT_EQ(summed.summary.sections.at(7).time, 100u);
  EXPECT_EQ(summed.summary.sections.at(8).time, 50u);
  const auto &interrupts = summed.summary.cpus[0].interrupt;
  ASSERT_EQ(interrupts.size(), 2u);
  EXPECT_EQ(interrupts.at(kSoft).count, 1u);
  EXPECT_EQ(interrupts.at(kSoft).time, 25u); // without the 5 of the one that interrupted it
  EXPECT_EQ(interrupts.at(kVector).time, 5u);
  EXPECT_EQ(summed.summary.cpus[0].interrupts, 30u);
}

class Busy : public ::testing::Test {
protected:
  /// Two hosts with one pid, and more threads than a table prints.
  Busy() {
    for (TempDir *dir : {&one_, &two_}) {
      TraceBuilder trace(dir->path());
      auto &cpu = trace.cpu(0).at(1000).start();
      for (uint16_t i = 1; i <= 30; i++)
        cpu.id(i, 4194000u + i, 4194001, "a long name 1234", i == 1 ? 0 : 1000);
      for (uint16_t i = 1; i < 30; i++)
        cpu.at(1000 + 100'000'000ull * i)
            .dispatch(i)
            .at(1000 + 100'000'000ull * (i + 1))
            .epilogue(i, 4194000u + i + 1);
      cpu.at(4'000'001'000).stop();
      trace.write();
    }
    source_ = open_trace({{one_.path()}, {two_.path()}}, sink_);
    summary_ = summarize(*source_);
  }
  std::string text(const ReportOptions &options) {
    return text_report({one_.path(), info_, source_->catalog(), summary_}, options);
  }

  TempDir one_, two_;
  CollectingSink sink_;
  std::unique_ptr<EventSource> source_;
  TraceInfo info_;
  Summary summary_;
};

TEST_F(Busy, OnePidOnTwoHostsIsTwoProcesses) {
  EXPECT_NE(text({}).find("contents  2 processes, 60 threads, "), std::string::npos) << text({});
  EXPECT_EQ(by_process(source_->catalog(), summary_, "running").size(), 2u);
}

TEST_F(Busy, NoLineIsWiderThanAScreen) {
  std::istringstream lines(text({}));
  std::string path;
  std::getline(lines, path);
  for (std::string line; std::getline(lines, line);)
    EXPECT_LE(line.size(), 100u) << line;
}

TEST_F(Busy, TheTopIsSummedUpWithTheRest) {
  const auto sums = [&](size_t top) {
    std::istringstream lines(text({.sort = "running", .top = top}));
    std::vector<std::string> running; // of the first table
    bool in_table = false;
    for (std::string line; std::getline(lines, line);) {
      if (in_table && line.empty())
        break;
      if (in_table)
        running.push_back(line);
      in_table |= line.starts_with("THREAD");
    }
    return running;
  };
  EXPECT_EQ(sums(0).size(), 60u);
  const std::vector<std::string> three = sums(3);
  ASSERT_EQ(three.size(), 4u);
  EXPECT_EQ(three[3].find("57 others  "), 0u) << three[3];
  EXPECT_NE(three[3].find("  5.500 s  "), std::string::npos) << "58 ran 100 ms each: " << three[3];
}

TEST(TraceInfo, NamesAPeerByItsTidAndTheTime) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  trace.json(R"({"version": 1, "peers": [
    {"tid": 9, "pid": 8, "name": "later", "since_ns": 200},
    {"tid": 9, "pid": 8, "name": "first\u001b", "since_ns": 100},
    {"tid": 10, "pid": 10, "name": "other", "since_ns": 50},
    {"tid": 0, "name": "idle"}, {"tid": 5000000000, "name": "big"}, 7]})");
  trace.write();
  CollectingSink sink;
  const TraceInfo info = read_trace_info(dir.path(), sink);
  ASSERT_EQ(info.peers.size(), 3u);
  ASSERT_TRUE(find_peer(info.peers, 9, 100));
  EXPECT_EQ(find_peer(info.peers, 9, 0)->name, "first?")
      << "its first name, before it was seen too";
  EXPECT_EQ(find_peer(info.peers, 9, 199)->name, "first?");
  EXPECT_EQ(find_peer(info.peers, 9, 200)->name, "later");
  EXPECT_EQ(find_peer(info.peers, 9, UINT64_MAX)->pid, 8u);
  EXPECT_EQ(find_peer(info.peers, 10, 40)->name, "other");
  EXPECT_FALSE(find_peer(info.peers, 8, 100));
  EXPECT_FALSE(find_peer(info.peers, 11, 100));
}

TEST(Report, SaysTheSameAsTextAndAsJson) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  trace.json(
      R"({"version": 1, "host": "h", "kernel": "6.1", "machine": "x86_64", "cpus": 2, "written": [{"cpu": 0, "records": 1}],
                 "command": ["./a b", "-n", "it's"], "ended": {"how": "exited with status 3"}})");
  trace.cpu(0).at(1000).start().id(1, 7, 7, "bad\xff").id(2, 8, 7, "busy").dispatch(2);
  trace.cpu(0).at(501000).stop();
  trace.write();
  CollectingSink sink;
  const auto source = open_trace({{dir.path()}}, sink);
  const Summary summary = summarize(*source);
  const TraceInfo info = read_trace_info(dir.path(), sink);
  const ReportInput input{dir.path(), info, source->catalog(), summary};

  const std::string text = text_report(input);
  for (const char *line :
       {"host      h, Linux 6.1, x86_64, 2 CPUs\n", "command   './a b' -n 'it'\\''s'\n",
        "captured  for 500.0 us\n", "ended     exited with status 3\n",
        "contents  1 process, 2 threads, 3 events\n", "lost      0 events\n",
        "\nbusy (8)    7  500.0 us  100.0 % ",
        "\nCPU 0  500.0 us  100.0 %        0  0.0 %         1     0\n",
        "\nCPU 1         0    0.0 %        0  0.0 %         0     0\n"})
    EXPECT_NE(text.find(line), std::string::npos) << line << "in\n" << text;

  const nlohmann::json json = nlohmann::json::parse(json_report(input));
  EXPECT_EQ(json["host"], "h");
  EXPECT_EQ(json["command"][2], "it's");
  EXPECT_EQ(json["ended"], "exited with status 3");
  EXPECT_EQ(json["duration_ns"], 500000);
  EXPECT_EQ(json["events"], 3);
  ASSERT_EQ(json["threads"].size(), 2u);
  EXPECT_EQ(json["threads"][0]["name"], "busy");
  EXPECT_EQ(json["threads"][0]["time_ns"]["running"], 500000);
  EXPECT_EQ(json["threads"][1]["time_ns"]["unknown"], 500000);
  EXPECT_EQ(json["cpus"][0]["busy_ns"], 500000);
}

/// Each number under its own key: none is that of a neighbour.
TEST(Report, JsonHasEachNumberUnderItsKey) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  auto &cpu = trace.cpu(0).at(1000).start().id(1, 11, 10, "a").dispatch(1);
  cpu.at(1010).epilogue(1, 5).dispatch(1).epilogue(1, 5).dispatch(1); // preempted twice
  cpu.at(1030).epilogue(1, 5, FTRACE_OFFCPU_YIELDED).at(1035).dispatch(1);
  for (int i = 0; i < 3; i++)
    cpu.sleep(1)
        .at(1100 + uint64_t(i) * 100)
        .activate(1, 7)
        .at(1140 + uint64_t(i) * 110)
        .dispatch(1);
  cpu.epilogue(1, 5, FTRACE_OFFCPU_YIELDED).migrate(1, 0).migrate(1, 0).migrate(1, 0).migrate(1, 0);
  cpu.migrate(1, 0).at(2000).stop();
  const Summed summed = sum_up(trace, dir.path());
  TraceInfo info;
  info.families = "sched,irq";
  info.buffer = "cyc:4096";
  info.user = "worker";
  info.attached_pids = {10};
  const std::string path = dir.path();
  const ReportInput input{path, info, summed.catalog, summed.summary};
  const nlohmann::json json = nlohmann::json::parse(json_report(input));
  const nlohmann::json &thread = json["threads"][0];
  EXPECT_EQ(
      thread["switches"],
      nlohmann::json::parse(R"({"preempted": 2, "yielded": 2, "throttled": 0, "voluntary": 3})"));
  EXPECT_EQ(thread["wakeups"], 3);
  EXPECT_EQ(thread["migrations"], 5);
  EXPECT_EQ(thread["time_ns"], nlohmann::json::parse(R"({"running": 30, "cooling": 645,
            "warming": 150, "paused": 175, "unknown": 0})"));
  EXPECT_EQ(thread["wakeup_latency_ns"]["max"], 60);
  EXPECT_EQ(thread["wakeup_latency_ns"]["max_at_ns"], 360);
  EXPECT_EQ(json["processes"][0]["pid"], 10);
  EXPECT_EQ(json["processes"][0]["time_ns"], thread["time_ns"]);
  EXPECT_EQ(
      json["preemptions"][0],
      nlohmann::json::parse(R"({"tid": 11, "node": 0, "by_tid": 5, "by_name": null, "count": 2})"));
  EXPECT_EQ(json["wakeups"][0]["by_tid"], 7);
  EXPECT_EQ(json["buffer"], "cyc:4096");
  const std::string text = text_report(input);
  for (const char *line :
       {"target    process 10\n", "asked     families sched,irq, buffer cyc:4096, as user worker\n",
        "\na (11)      3  50 ns  60 ns  60 ns  0.000000360\n", "\na (11)  thread 5          2\n",
        "\nCOOLING  runnable"})
    EXPECT_NE(text.find(line), std::string::npos) << line << "in\n" << text;
}

TEST(Report, ReportsWhatIsNotKnownAsNotKnown) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  trace.cpu(0).at(1000).start().record(FTrace_EVT_id, 1, 75).dispatch(1).at(2000).sleep(1);
  trace.cpu(0).at(3000).id(2, 8, 8, "woken").activate(2).at(3500).dispatch(2).at(4000).stop();
  const Summed summed = sum_up(trace, dir.path());
  CollectingSink sink;
  const auto source = open_trace({{dir.path()}}, sink);
  const ReportInput input{dir.path(), TraceInfo(), source->catalog(), summed.summary};
  const std::string text = text_report(input);
  EXPECT_NE(text.find("\nthread 75    -  "), std::string::npos) << text;
  EXPECT_EQ(text.find(" (75)"), std::string::npos) << text;
  const nlohmann::json json = nlohmann::json::parse(json_report(input));
  for (const auto &thread : json["threads"]) {
    const bool woken = thread["tid"] == 8;
    EXPECT_EQ(thread["wakeup_latency_ns"]["count"], woken ? 1 : 0);
    for (const char *key : {"p50", "p99", "max"})
      EXPECT_EQ(thread["wakeup_latency_ns"][key], woken ? nlohmann::json(500) : nlohmann::json())
          << key;
  }
}

TEST(Summary, JsonReportsTheMedianFromTheWorst) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  auto &cpu = trace.cpu(0).at(1000).start().id(1, 8, 8, "woken").sleep(1);
  for (uint64_t wakeup = 0; wakeup < 3; wakeup++)
    cpu.at(2000 + 1000 * wakeup).activate(1).at(2010 + 1100 * wakeup).dispatch(1).sleep(1);
  cpu.at(9000).stop();
  const Summed summed = sum_up(trace, dir.path());
  CollectingSink sink;
  const auto source = open_trace({{dir.path()}}, sink);
  const nlohmann::json json = nlohmann::json::parse(
      json_report({dir.path(), TraceInfo(), source->catalog(), summed.summary}));
  const nlohmann::json &latency = json["threads"][0]["wakeup_latency_ns"];
  EXPECT_LT(latency["p50"], latency["p99"]);
  EXPECT_EQ(latency["p99"], latency["max"]);
  EXPECT_EQ(latency["max"], 210);
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

} // namespace
} // namespace ovnitrace
