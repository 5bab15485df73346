// SPDX-License-Identifier: BSD-2-Clause
// Idle states, stolen time and throttling in `info`, in `dump` and in Perfetto's format.
#include "emulator/dump/dump_line.h"
#include "emulator/open/open_trace.h"
#include "emulator/summary/report.h"
#include "emulator/summary/summarizer.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace ovnitrace {
namespace {

using test::CollectingSink;
using test::TempDir;
using test::TraceBuilder;

class PowerReports : public ::testing::Test {
protected:
  PowerReports() : trace(dir.path()) {}

  void summarize_trace() {
    trace.write();
    const auto source = open_trace({{dir.path()}}, sink);
    const Summary summary = summarize(*source);
    const TraceInfo info = read_trace_info(dir.path(), sink);
    const ReportInput input{dir.path(), info, source->catalog(), summary};
    text = text_report(input);
    json = nlohmann::json::parse(json_report(input));
  }
  void expect_line(const std::string &line) const {
    EXPECT_NE(text.find(line), std::string::npos) << line << "in\n" << text;
  }

  TempDir dir;
  TraceBuilder trace;
  CollectingSink sink;
  std::string text;
  nlohmann::json json;
};

TEST_F(PowerReports, AddUpIdleStatesByTheirNames) {
  trace.json(R"({"version": 1, "idle_states": ["POLL", "C\"1\n"]})");
  auto &cpu = trace.cpu(0).at(0).start();
  cpu.at(100).record(FTrace_EXT_idle_end); // its start was not seen
  cpu.at(200).record(FTrace_EXT_idle_start, 0, 1).at(500).record(FTrace_EXT_idle_start, 0, 0);
  cpu.at(600).record(FTrace_EXT_idle_end).at(700).record(FTrace_EXT_idle_start, 0, 1);
  cpu.at(800).record(FTrace_EXT_idle_end).at(850).record(FTrace_EXT_idle_start, 0, 7);
  cpu.at(860).blackout_start().at(870).blackout_end(1).at(900).record(FTrace_EXT_idle_end);
  cpu.at(910).record(FTrace_EXT_idle_start, 0, 7).at(930).record(FTrace_EXT_idle_end);
  cpu.at(1000).stop();
  summarize_trace();
  expect_line("\nCPU 0  POLL         1  100 ns  10.0 %  100 ns\n");
  expect_line("\nCPU 0  C?1?         2  400 ns  40.0 %  300 ns\n");
  expect_line("\nCPU 0  state 7      1   20 ns   2.0 %   20 ns\n");
  ASSERT_EQ(json["cpus"][0]["idle_states"].size(), 3u);
  EXPECT_EQ(json["cpus"][0]["idle_states"][1]["name"], "C?1?");
  EXPECT_EQ(json["cpus"][0]["idle_states"][1]["time_ns"], 400);
  EXPECT_EQ(text.find("STOLEN"), std::string::npos) << "it was not looked at";
}

TEST_F(PowerReports, WeighFrequenciesByTheirTime) {
  auto &cpu = trace.cpu(0).at(0).start().at(100).record(FTrace_EXT_frequency, 0, 1'000'000);
  cpu.at(400).record(FTrace_EXT_frequency, 0, 3'000'000).record(FTrace_EXT_frequency, 1, 2'000'000);
  cpu.at(500).blackout_start().at(600).blackout_end(1).at(1000).stop();
  trace.cpu(1).at(0).start().at(1000).stop();
  trace.cpu(2).at(0).start().at(1000).stop();
  summarize_trace();
  expect_line("\nCPU 0  1500 MHz  1000 MHz  3000 MHz        2  400 ns\n");
  expect_line(
      "\nCPU 1  2000 MHz  2000 MHz  2000 MHz        1  100 ns\n"); // CPU 0 may have changed it
  EXPECT_EQ(json["cpus"][0]["frequency"]["mean_khz"], 1'500'000);
  EXPECT_TRUE(json["cpus"][2]["frequency"].is_null()) << "nothing says it";
}

TEST_F(PowerReports, ShowHowMuchOfACpuWasStolen) {
  trace.cpu(0).at(0).start().record(FTrace_EXT_steal, 0, 0);
  trace.cpu(0).at(50000).record(FTrace_EXT_steal, 0, 7).at(60000).record(FTrace_EXT_steal, 0, 13);
  trace.cpu(0).at(70000).record(FTrace_EXT_steal, 0, 0).at(100000).stop();
  trace.cpu(1).at(0).start().at(100000).stop();
  summarize_trace();
  expect_line("LOST    STOLEN       %\n");
  expect_line("0  20.00 us  20.0 %\n");
  expect_line("0         -       -\n");
  EXPECT_EQ(json["cpus"][0]["stolen_ns"], 20000);
  EXPECT_TRUE(json["cpus"][1]["stolen_ns"].is_null());
}

TEST_F(PowerReports, CountThrottlingApartFromPreemption) {
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "spinner").dispatch(1);
  cpu.at(100).epilogue(1, 0, FTRACE_OFFCPU_THROTTLED).at(400).dispatch(1);
  cpu.at(500).epilogue(1, 22).at(550).dispatch(1);
  cpu.at(600).epilogue(1, 0, FTRACE_OFFCPU_THROTTLED).at(1000).stop();
  summarize_trace();
  expect_line("budget was left:\nTHREAD        TIMES    TIME     MAX           AT\n"
              "spinner (11)      2  700 ns  400 ns  0.000001000\n");
  const nlohmann::json &thread = json["threads"][0];
  EXPECT_EQ(thread["switches"]["throttled"], 2);
  EXPECT_EQ(thread["switches"]["preempted"], 1);
  EXPECT_EQ(thread["throttling"]["count"], 2) << "the second one goes on at the end";
  EXPECT_EQ(thread["throttling"]["time_ns"], 700);
  EXPECT_EQ(json["preemptions"].size(), 1u);
}

TEST_F(PowerReports, CountMissedDeadlines) {
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "dl").id(2, 12, 12, "other").dispatch(1);
  cpu.at(100).record(FTrace_EVT_server_exhaust, 1, 3).at(200);
  cpu.record(FTrace_EVT_server_replenish, 1).at(500);
  cpu.record(FTrace_EVT_task_deadline_miss, 1, 200).at(600);
  cpu.record(FTrace_EVT_server_exhaust, 1, FTRACE_SERVER_YIELDED | 7).at(700);
  cpu.record(FTrace_EVT_server_replenish, 1).at(900);
  cpu.record(FTrace_EVT_task_deadline_miss, 1, 100).at(1000).stop();
  summarize_trace();
  expect_line("Threads of SCHED_DEADLINE; LATE is how late the kernel noticed a missed deadline:\n"
              "THREAD   BUDGETS  USED UP  MISSED  LATE, MAX           AT\n"
              "dl (11)        2        1       2     200 ns  0.000000500\n");
  EXPECT_EQ(text.find("other (12)", text.find("SCHED_DEADLINE")), std::string::npos);
  const nlohmann::json &deadlines = json["threads"][0]["deadlines"];
  EXPECT_EQ(deadlines["budgets"], 2);
  EXPECT_EQ(deadlines["budgets_used_up"], 1);
  EXPECT_EQ(deadlines["missed"]["count"], 2);
  EXPECT_EQ(deadlines["missed"]["max_ns"], 200);
}

TEST_F(PowerReports, DumpNamesIdleStatesAndMasks) {
  trace.json(R"({"version": 1, "idle_states": ["", "haltpoll idle"]})");
  trace.cpu(0).at(0).start().record(FTrace_EXT_idle_start, 0, 1);
  trace.cpu(0).at(5).record(FTrace_EXT_idle_start, 0, 0).id(1, 11, 11, "app");
  trace.cpu(0).record(FTrace_EXT_affinity, 1, 0x2b).at(10).stop();
  trace.write();
  const auto source = open_trace({{dir.path()}}, sink);
  const DumpLine line(source->catalog());
  std::string all;
  for (Event event; source->next(event);) {
    char text[DumpLine::kMaxBytes];
    all.append(text, line.put(text, event));
  }
  EXPECT_NE(all.find("state=1 name=haltpoll_idle\n"), std::string::npos) << all;
  EXPECT_NE(all.find("state=0\n"), std::string::npos) << all;
  EXPECT_NE(all.find("EXT_affinity         app(11)                  cpus=0x2b\n"),
            std::string::npos)
      << all;
}

} // namespace
} // namespace ovnitrace
