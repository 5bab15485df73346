// SPDX-License-Identifier: BSD-2-Clause
// `ovnitrace info`: what is added up, and how it is told.
#include "emulator/base/human.h"
#include "emulator/input/open.h"
#include "emulator/summary/report.h"
#include "emulator/summary/summarizer.h"
#include "emulator/summary/table.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <random>

namespace ovnitrace {
namespace {

using test::CollectingSink;
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

Summed sum_up(TraceBuilder &trace, const std::string &path) {
  trace.write();
  CollectingSink sink;
  const auto source = open_trace({{path}}, sink);
  return {source->catalog(), summarize(*source)};
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
  EXPECT_EQ(by_running_time(summed.summary), (std::vector<uint32_t>{0, 1}));
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
    trace.cpu(cpu).at(300).record(FTrace_EVT_blackout_end, FTRACE_BLACKOUT_SOMEWHERE, 17);
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
  constexpr uint16_t kThreads = 6, kCpus = 3;
  std::mt19937 random(4);
  for (int round = 0; round < 100; round++) {
    TempDir dir;
    TraceBuilder trace(dir.path());
    for (uint16_t cpu = 0; cpu < kCpus; cpu++) {
      auto &chunk = trace.cpu(cpu).at(100).start();
      for (uint16_t i = 1; i <= kThreads; i++)
        chunk.id(i, i, 1, "thread");
    }
    uint64_t time = 100;
    for (int i = 0; i < 80; i++) {
      auto &chunk = trace.cpu(uint16_t(random() % kCpus)).at(time += random() % 50);
      const uint16_t thread = uint16_t(1 + random() % kThreads);
      switch (random() % 9) {
      case 0:
      case 1:
        chunk.dispatch(thread);
        break;
      case 2:
        chunk.epilogue(thread);
        break;
      case 3:
        chunk.sleep(thread);
        break;
      case 4:
        chunk.activate(thread);
        break;
      case 5:
        chunk.migrate(thread, random() % kCpus);
        break;
      case 6:
        chunk.snapshot(thread, random() % 6, random() % kCpus);
        break;
      case 7:
        random() % 4 ? chunk.end(thread) : chunk.blackout_start();
        break;
      case 8:
        chunk.blackout_end(1);
        break;
      }
    }
    for (uint16_t cpu = 0; cpu < kCpus; cpu++)
      trace.cpu(cpu).at(time).stop();
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

TEST(Report, TellsWhatIsNotKnownAsNotKnown) {
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
