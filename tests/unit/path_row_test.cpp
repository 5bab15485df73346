// SPDX-License-Identifier: BSD-2-Clause
// The critical path where it is shown: as a row of thread.prv and as a table.
#include "emulator/convert/path_row.h"
#include "emulator/open/open_trace.h"
#include "emulator/plot/svg.h"
#include "emulator/plot/text_figure.h"
#include "emulator/why/path_report.h"
#include "tests/support/convert_directory.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/files.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>

namespace ovnitrace {
namespace {

using test::CollectingSink;
using test::lines_of;
using test::TempDir;
using test::TraceBuilder;

/// 11 is woken by 22, which waited for the CPU of 11 and was woken by the timer; then by 99, which
/// is not traced.
class PathRows : public ::testing::Test {
protected:
  PathRows() : trace(dir.path()) {
    auto &cpu = trace.cpu(0).at(50).id(1, 11, 11, "first").id(2, 22, 22, "second");
    cpu.snapshot(1, 1, 0).snapshot(2, 2, 0).at(100).start();
    cpu.at(200).sleep(1, 22).at(250).record(FTrace_EVT_interrupt_start, FTRACE_INTERRUPT_SOFT | 1);
    cpu.activate(2, 0, FTRACE_WAKER_SOFTIRQ);
    cpu.record(FTrace_EVT_interrupt_end, FTRACE_INTERRUPT_SOFT | 1);
    cpu.at(300).dispatch(2).at(400).activate(1, 22).at(450).sleep(2, 11).dispatch(1);
    cpu.at(600).sleep(1, 99).at(800).activate(1, 99).at(810).dispatch(1).at(1000).stop();
    trace.json(R"({"version": 1, "cpu_holders": true,
                   "peers": [{"tid": 99, "pid": 99, "name": "out"}]})");
    trace.write();
  }

  std::unique_ptr<EventSource> open() { return open_trace({{dir.path()}}, sink); }
  CriticalPath path(const Cut &cut = {}) { return critical_path(*open(), {}, cut, {11, {}}); }

  /// The lines of the path's row, "time:type:value…".
  std::vector<std::string> row(const std::string &object) {
    std::vector<std::string> lines;
    for (const std::string &line : lines_of(dir / "thread.prv"))
      if (const size_t at = line.find(object); line[0] == '2' && at != std::string::npos)
        lines.push_back(line.substr(at + object.size()));
    return lines;
  }

  TempDir dir;
  TraceBuilder trace;
  CollectingSink sink;
};

TEST_F(PathRows, ARowOfThreadPrvHasThreadAndCause) {
  CriticalPath whole = path();
  ConvertOptions options;
  options.path = &whole;
  EXPECT_EQ(convert_directory(dir.path(), options, sink).thread_rows, 3u);
  EXPECT_EQ(row(":1:3:1:"),
            (std::vector<std::string>{"0:490:1:495:1", "100:490:2:495:4", "150:490:2:495:2",
                                      "200:490:2:495:1", "300:490:1:495:2", "350:490:1:495:1",
                                      "500:490:1:495:8", "700:490:1:495:2", "710:490:1:495:1",
                                      "900:490:0:495:0"}));
  EXPECT_NE(test::text_of(dir / "thread.row").find("critical path of first (11)"),
            std::string::npos);
  const std::string pcf = test::text_of(dir / "thread.pcf");
  const size_t at = pcf.find("EVENT_TYPE\n0    490 ");
  ASSERT_NE(at, std::string::npos) << pcf;
  EXPECT_EQ(pcf.substr(at), R"(EVENT_TYPE
0    490    Critical path: thread
VALUES
0    Not on the path
1    first (11)
2    second (22)


EVENT_TYPE
0    495    Critical path: cause
VALUES
0    Not on the path
1    Running
2    Waiting for a CPU
3    Throttled: no CPU quota or budget left
4    Blocked until a timer woke it
5    Blocked until I/O ended
6    Blocked until the network woke it
7    Blocked until an interrupt woke it
8    Blocked until an untraced thread woke it
9    Blocked, no wakeup known
10    Has ended
11    Not known
12    In a kernel worker
13    In a kernel worker, queued by unknown
14    Spins in sched_yield
15    Blocked, not woken yet


)");
  EXPECT_NE(test::text_of(dir / "cfg/thread/critical-path-cause.cfg")
                .find("\nwindow_name Thread: Critical path: cause\n"),
            std::string::npos);
  EXPECT_EQ(test::text_of(dir / "cpu.pcf").find("Critical"), std::string::npos);
  EXPECT_NE(test::text_of(dir / "cfg/thread/critical-path.cfg").find("490"), std::string::npos);
  EXPECT_NE(test::text_of(dir / "cfg/README").find("thread/critical-path-cause.cfg"),
            std::string::npos);
}

TEST_F(PathRows, ACutHasThePathOfItsTimeEvenOfThreadsWithoutARow) {
  ConvertOptions options;
  options.cut.from = 150;
  options.cut.to = 320;
  options.cut.tids = {11};
  CriticalPath part = path(options.cut);
  options.path = &part;
  EXPECT_EQ(convert_directory(dir.path(), options, sink).thread_rows, 2u);
  EXPECT_EQ(row(":1:2:1:"), (std::vector<std::string>{"0:490:2:495:2", "50:490:2:495:1",
                                                      "150:490:1:495:2", "170:490:0:495:0"}));
}

TEST_F(PathRows, TheTableSumsUpToTheLengthOfThePath) {
  CriticalPath whole = path();
  const auto source = open();
  nlohmann::ordered_json json;
  add_path_json(json, whole, source->catalog());
  EXPECT_EQ(json["critical_path_of"].dump(),
            R"({"tid":11,"name":"first","from_ns":0,"to_ns":900})");
  uint64_t sum = 0;
  std::vector<std::string> rows;
  for (const auto &row : json["critical_path"]) {
    sum += row["ns"].get<uint64_t>();
    rows.push_back(row.dump());
  }
  EXPECT_EQ(sum, 900u);
  std::sort(rows.begin(), rows.end());
  EXPECT_EQ(
      rows,
      (std::vector<std::string>{
          R"j({"tid":11,"name":"first","cause":"outside: out (99)","ns":200,"count":1})j",
          R"({"tid":11,"name":"first","cause":"running","ns":440,"count":3})",
          R"({"tid":11,"name":"first","cause":"waiting for a CPU","ns":10,"count":1,"holder_tid":99,"holder":"out"})",
          R"({"tid":11,"name":"first","cause":"waiting for a CPU","ns":50,"count":1,"holder_tid":22,"holder":"second"})",
          R"({"tid":22,"name":"second","cause":"running","ns":100,"count":1})",
          R"({"tid":22,"name":"second","cause":"timer","ns":50,"count":1})",
          R"({"tid":22,"name":"second","cause":"waiting for a CPU","ns":50,"count":1})"}));
  const std::string text = path_text(whole, source->catalog(), 2);
  EXPECT_NE(text.find("Critical path of first (11): 900 ns, from 0 to 900 ns of the trace"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("out (99), not traced"), std::string::npos) << text;
  EXPECT_NE(path_text(whole, source->catalog(), 0).find("\nnot known "), std::string::npos)
      << "second waited 50 ns, and nobody is known to have held its CPU";
  EXPECT_EQ(path_text(whole, source->catalog(), 2, false, 50)
                .find("Critical path of first (11): 900 ns, from 0 to 900\nns of the trace\n\n"),
            0u);
  EXPECT_NE(text.find("48.9 %"), std::string::npos) << text;
  EXPECT_NE(text.find("the rest"), std::string::npos);
}

TEST_F(PathRows, HoldersOfOneNameAreOneLineByName) {
  trace = TraceBuilder(dir.path());
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "first").dispatch(1);
  uint64_t time = 100;
  for (const uint32_t holder : {97, 98, 99}) {
    cpu.at(time).epilogue(1, holder).at(time + 50).dispatch(1);
    time += 100;
  }
  cpu.at(500).stop();
  trace.json(R"({"version": 1, "cpu_holders": true, "peers": [{"tid": 97, "pid": 97, "name": "cc1"},
                 {"tid": 98, "pid": 98, "name": "as"}, {"tid": 99, "pid": 99, "name": "cc1"}]})");
  trace.write();
  CriticalPath whole = path();
  const std::string text = path_text(whole, open()->catalog(), 0, true);
  EXPECT_NE(text.find("cc1 (2 threads), not traced  100 ns  20.0 %      2\n"
                      "as (98), not traced           50 ns  10.0 %      1\n"),
            std::string::npos)
      << text;
}

TEST_F(PathRows, AWaitWithSeveralHoldersIsOneTime) {
  trace = TraceBuilder(dir.path());
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "first").dispatch(1);
  for (const uint64_t at : {100, 300}) {
    cpu.at(at).epilogue(1, 98).at(at + 40).record(FTrace_EXT_holder, 0, 99);
    cpu.at(at + 60).record(FTrace_EXT_holder, 0, 98).at(at + 100).dispatch(1);
  }
  cpu.at(500).stop();
  trace.json(R"({"version": 1, "cpu_holders": true})");
  trace.write();
  CriticalPath whole = path();
  EXPECT_EQ(path_text(whole, open()->catalog(), 0),
            "Critical path of first (11): 500 ns, from 0 to 500 ns of the trace\n\n"
            "THREAD      CAUSE                TIME   SHARE  TIMES\n"
            "first (11)  running            300 ns  60.0 %      3\n"
            "first (11)  waiting for a CPU  200 ns  40.0 %      2\n\n"
            "Who held the CPU meanwhile\n\n"
            "HOLDER                   TIME   SHARE  TIMES\n"
            "thread 98, not traced  160 ns  32.0 %      4\n"
            "thread 99, not traced   40 ns   8.0 %      2\n");
}

TEST_F(PathRows, AFigureDrawsThePathAlongTheRows) {
  CriticalPath whole = path();
  FigureOptions options;
  options.columns = 9;
  options.path = &whole;
  const auto figure = [&] {
    return make_figure(
        dir.path(), {}, [&] { return open(); }, options);
  };
  EXPECT_EQ(figure().rows[0].path,
            (std::vector<uint64_t>{100, 0, 0, 100, 100, 100, 100, 100, 100}));
  EXPECT_EQ(figure().rows[1].path, (std::vector<uint64_t>{0, 100, 100, 0, 0, 0, 0, 0, 0}));
  EXPECT_NE(text_of(figure(), TextStyle::plain).find("critical path abbaaaaaa\n"),
            std::string::npos);
  std::string svg = svg_of(figure());
  EXPECT_NE(svg.find("d=\"M1 0H3V2H1z\""), std::string::npos) << svg;
  EXPECT_EQ(svg.find("path elsewhere"), std::string::npos);
  options.rows = 1;
  EXPECT_NE(text_of(figure(), TextStyle::plain).find("critical path a**aaaaaa\n"),
            std::string::npos);
  EXPECT_NE(svg_of(figure()).find("path elsewhere"), std::string::npos);
  options.path = nullptr;
  EXPECT_EQ(svg_of(figure()).find("critical"), std::string::npos);
}

TEST_F(PathRows, OnlyATraceOfAllThreadsKnowsThatACpuIsIdle) {
  for (const bool all : {true, false}) {
    trace = TraceBuilder(dir.path());
    trace.json(all ? R"({"version": 1, "all_threads": true})" : R"({"version": 1})");
    auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "a").dispatch(1).at(50).sleep(1, 0);
    cpu.at(100).activate(1, 0, FTRACE_WAKER_HARDIRQ).at(300).dispatch(1).at(500).stop();
    trace.write();
    CriticalPath whole = path();
    const auto source = open();
    nlohmann::ordered_json json;
    add_path_json(json, whole, source->catalog());
    const auto &rows = json["critical_path"];
    const auto waiting = std::find_if(rows.begin(), rows.end(), [](const auto &row) {
      return row["cause"] == "waiting for a CPU";
    });
    ASSERT_NE(waiting, rows.end());
    EXPECT_EQ((*waiting)["ns"], 200);
    EXPECT_EQ(waiting->value("holder", "not known"), all ? "idle" : "not known");
    EXPECT_EQ(path_text(whole, source->catalog(), 0).find("idle  ") != std::string::npos, all);
  }
}

} // namespace
} // namespace ovnitrace
