// SPDX-License-Identifier: BSD-2-Clause
// What `ovnitrace info` prints of what was added up, as text and as JSON.
#include "emulator/open/open_trace.h"
#include "emulator/summary/groups.h"
#include "emulator/summary/report.h"
#include "emulator/summary/summarizer.h"
#include "emulator/summary/table.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/summed.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <sstream>

namespace ovnitrace {
namespace {

using test::CollectingSink;
using test::sum_up;
using test::Summed;
using test::TempDir;
using test::TraceBuilder;

TEST(Table, AlignsCharactersNotBytes) {
  Table table({"A", "LONG"});
  table.add({"é", "1"});
  table.add({"abc", "12345"});
  EXPECT_EQ(table.text(), "A     LONG\n"
                          "é        1\n"
                          "abc  12345\n");
}

// Whether such a thread was woken or preempted is not known.
TEST(InfoReport, SaysHowLongThreadsWaitedThatTheTraceFoundWaiting) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  auto &cpu = trace.cpu(0).at(500).id(1, 11, 11, "a").id(2, 22, 22, "hog").snapshot(2, 1, 0);
  cpu.snapshot(1, uint32_t(ThreadState::Warming), 0, FTRACE_OFFCPU_WAITED).at(1000).start();
  cpu.at(21'000).epilogue(2, 11).dispatch(1).at(41'000).epilogue(1, 22).dispatch(2).at(51'000);
  cpu.stop();
  trace.write();
  CollectingSink sink;
  const auto source = open_trace({{dir.path()}}, sink);
  const Summary summary = summarize(*source);
  const TraceInfo info;
  const ReportInput input{dir.path(), info, source->catalog(), summary};
  const std::string text = text_report(input, {.columns = 200});
  EXPECT_NE(
      text.find("\nOf WOKEN, 20.00 us: threads that waited already when their recording began. "
                "Whether they were woken or preempted is not known.\n"),
      text.npos)
      << text;
  const auto json = nlohmann::json::parse(json_report(input, {}));
  for (const nlohmann::json &thread : json["threads"]) {
    EXPECT_EQ(thread["found_waiting_ns"], thread["tid"] == 11 ? 20'000 : 0);
    EXPECT_EQ(thread["wakeups"], 0);
  }
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

TEST(Processes, APidThatWasUsedAgainIsAnotherProcess) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  auto &cpu = trace.cpu(0).at(100).start().id(1, 300, 300, "old").id(2, 301, 300, "old-2", 110);
  cpu.id(3, 300, 300, "new", 500).id(4, 302, 300, "new-2", 510);
  cpu.dispatch(1).at(200).epilogue(1, 301).dispatch(2).at(300).end(2, 300).dispatch(1).at(400);
  cpu.end(1).at(500).dispatch(3).at(600).epilogue(3, 302).dispatch(4).at(700).stop();
  trace.write();
  CollectingSink sink;
  const auto source = open_trace({{dir.path()}}, sink);
  const std::vector<ThreadGroup> groups =
      by_process(source->catalog(), summarize(*source), "running");
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].name, "old");
  EXPECT_EQ(groups[0].threads, 2u);
  EXPECT_EQ(groups[1].name, "new");
  EXPECT_EQ(groups[1].threads, 2u);
}

TEST_F(Busy, NoLineIsWiderThanAScreen) {
  std::istringstream lines(text({}));
  std::string path;
  std::getline(lines, path);
  for (std::string line; std::getline(lines, line);)
    EXPECT_LE(line.size(), 100u) << line;
}

TEST_F(Busy, TopShowsTheFirstThreadsAndSumsUpTheRest) {
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

TEST(Report, FitsTheCommandIntoTheTerminal) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  trace.json(R"({"version": 1, "command": ["app", ")" + std::string(100'000, 'a') + R"("]})");
  trace.cpu(0).at(1000).start().id(1, 7, 7, "app");
  trace.cpu(0).at(501000).stop();
  trace.write();
  CollectingSink sink;
  const auto source = open_trace({{dir.path()}}, sink);
  const Summary summary = summarize(*source);
  const TraceInfo info = read_trace_info(dir.path(), sink);
  const ReportInput input{dir.path(), info, source->catalog(), summary};

  const std::string text = text_report(input, {.columns = 80});
  EXPECT_NE(text.find("command   app " + std::string(65, 'a') + "…\n"), std::string::npos) << text;
  EXPECT_NE(text_report(input, {.columns = SIZE_MAX}).find(std::string(100'000, 'a') + '\n'),
            std::string::npos)
      << "a pipe has it all";
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
        "\nCPU 0        500.0 us  100.0 %        0  0.0 %         1     0\n",
        "\nCPU 1               0    0.0 %        0  0.0 %         0     0\n"})
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

TEST(Report, OfNothingHasNoTables) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  trace.cpu(0).at(1000).start().at(5000).stop();
  trace.write();
  test::CollectingSink sink;
  const auto source = open_trace({{dir.path()}}, sink);
  const Summary summary = summarize(*source, {});
  const TraceInfo info = read_trace_info(dir.path(), sink);
  EXPECT_EQ(tables({dir.path(), info, source->catalog(), summary}, {}), "");
}

/// Sleeping kernel threads would make the share of every group small.
TEST(Report, OfAllThreadsThePercentageIsTheShareOfTheCpus) {
  for (const bool all : {true, false}) {
    TempDir dir;
    TraceBuilder trace(dir.path());
    trace.json(all ? R"({"version": 1, "all_threads": true})" : R"({"version": 1})");
    auto &cpu = trace.cpu(0).at(1000).start().id(1, 7, 7, "app").dispatch(1);
    for (uint16_t n = 2; n < 8; n++) // three more of the program, and three of the kernel
      cpu.id(n, 20u + n, n < 5 ? 7 : 20u + n, n < 5 ? "io" : "kworker")
          .snapshot(n, uint32_t(ThreadState::Paused), 0);
    cpu.at(1400).sleep(1).at(2000).stop();
    trace.cpu(1).at(1000).start().at(2000).stop();
    for (const bool cut : {true, false}) {
      Cut part;
      if (cut)
        part.pids = {7};
      const Summed summed = sum_up(trace, dir.path(), part);
      const std::string text =
          text_report({dir.path(), TraceInfo(), summed.catalog, summed.summary}, {.top = 1});
      const bool of_cpus = all && !cut;
      for (const char *line : {of_cpus ? "400 ns  20.0 % " : "400 ns  40.0 % ",
                               of_cpus ? "% is the share of the time of all CPUs\n"
                                       : "% is its share of the life of "})
        EXPECT_NE(text.find(line), std::string::npos) << line << text;
      if (!cut) {
        EXPECT_NE(text.find(of_cpus ? "\napp (7)         4   400 ns  20.0 % "
                                    : "\napp (7)         4   400 ns  10.0 % "),
                  std::string::npos)
            << "the line of a process" << text;
      }
    }
  }
}

/// Each number under its own key: none is that of a neighbour.
TEST(Report, AThreadWithOneWaitForAFutexIsListed) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "one").id(2, 12, 11, "none").dispatch(1);
  cpu.at(100).record(FTrace_EVT_mutex_wait, 1, 0x1000).at(130);
  cpu.record(FTrace_EVT_mutex_lock, 1, 0x1000 | FTRACE_FUTEX_PLAIN).at(200).stop();
  trace.write();
  CollectingSink sink;
  const auto source = open_trace({{dir.path()}}, sink);
  const Summary summary = summarize(*source);
  const std::string text = text_report({dir.path(), {}, source->catalog(), summary}, {});
  EXPECT_NE(text.find("THREAD    WAITS   TIME    MAX           AT  GAVE UP\n"
                      "one (11)      1  30 ns  30 ns  0.000000130        0\n\n"),
            text.npos)
      << text;
}

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
  const std::string &path = dir.path();
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
       {"target    process 10\n", "asked     families sched,irq, buffer last:4K, as user worker\n",
        "\na (11)      3  50 ns  60 ns  60 ns  0.000000360\n", "\na (11)  thread 5          2\n",
        "\nPREEMPTED (COOLING)  could run"})
    EXPECT_NE(text.find(line), std::string::npos) << line << "in\n" << text;
  EXPECT_NE(text_report(input, {.columns = 45})
                .find("asked     families sched,irq, buffer last:4K,\n          as user worker\n"),
            std::string::npos);
}

TEST(Report, NamesTheChainsOfControlAndARegionOfThreads) {
  const auto asked = [](const std::string &region) {
    TempDir dir;
    TraceBuilder trace(dir.path());
    trace.json(R"({"version": 1, "options": {"families": "sched"}, "control": {"region": ")" +
               region +
               R"(", "chains": [{"name": "load", "text": "start:x"},
                                {"name": "", "text": "start:\u001b"}]}})");
    trace.cpu(0).at(1000).start().at(5000).stop();
    const Summed summed = sum_up(trace, dir.path());
    CollectingSink sink;
    const TraceInfo info = read_trace_info(dir.path(), sink);
    const std::string &path = dir.path();
    const std::string text = text_report({path, info, summed.catalog, summed.summary});
    const size_t at = text.find("asked ");
    return text.substr(at, text.find('\n', at) - at);
  };
  EXPECT_EQ(asked("global"), "asked     families sched, --control load, --control start:?");
  EXPECT_EQ(asked("thread"),
            "asked     families sched, --control load, --control start:?, --region thread");
}

TEST(Report, ReportsWhatIsNotKnownAsNotKnown) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  trace.cpu(0).at(1000).start().record(FTrace_EVT_id, 1, 75).dispatch(1).at(2000).sleep(1);
  trace.cpu(0).at(3000).id(2, 8, 8, "woken").activate(2).at(3500).dispatch(2).at(4000).stop();
  const Summed summed = sum_up(trace, dir.path());
  const ReportInput input{dir.path(), TraceInfo(), summed.catalog, summed.summary};
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

TEST(Report, JsonHasTheMedianAndTheWorst) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  auto &cpu = trace.cpu(0).at(1000).start().id(1, 8, 8, "woken").sleep(1);
  for (uint64_t wakeup = 0; wakeup < 3; wakeup++)
    cpu.at(2000 + 1000 * wakeup).activate(1).at(2010 + 1100 * wakeup).dispatch(1).sleep(1);
  cpu.at(9000).stop();
  const Summed summed = sum_up(trace, dir.path());
  const nlohmann::json json =
      nlohmann::json::parse(json_report({dir.path(), TraceInfo(), summed.catalog, summed.summary}));
  const nlohmann::json &latency = json["threads"][0]["wakeup_latency_ns"];
  EXPECT_LT(latency["p50"], latency["p99"]);
  EXPECT_EQ(latency["p99"], latency["max"]);
  EXPECT_EQ(latency["max"], 210);
}

} // namespace
} // namespace ovnitrace
