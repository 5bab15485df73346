// SPDX-License-Identifier: BSD-2-Clause
// From a trace directory to the files that Paraver loads.

#include "emulator/base/error.h"
#include "emulator/cli/trace_inputs.h"
#include "emulator/open/open_trace.h"
#include "tests/support/convert_directory.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/files.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace ovnitrace {
namespace {

using test::CollectingSink;
using test::lines_of;
using test::TempDir;
using test::TraceBuilder;

/// The (time, value) pairs that a row of a .prv has of one type.
using Timeline = std::vector<std::pair<uint64_t, int64_t>>;
Timeline timeline(const std::string &path, uint32_t thread, uint32_t type, uint32_t task = 1) {
  Timeline found;
  for (const std::string &line : lines_of(path)) {
    std::vector<int64_t> fields;
    std::stringstream in(line);
    for (std::string field; line[0] == '2' && std::getline(in, field, ':');)
      fields.push_back(std::stoll(field));
    if (fields.size() < 8 || fields[3] != task || fields[4] != thread)
      continue;
    for (size_t i = 6; i + 1 < fields.size(); i += 2)
      if (fields[i] == type)
        found.push_back({uint64_t(fields[5]), fields[i + 1]});
  }
  return found;
}

class Convert : public ::testing::Test {
protected:
  Convert() : trace(dir.path()) {}

  ConvertResult run(const ConvertOptions &options = {}) {
    trace.write();
    return convert_directory(dir.path(), options, sink);
  }
  std::string threads() const { return dir / "thread.prv"; }
  std::string cpus() const { return dir / "cpu.prv"; }

  TempDir dir;
  TraceBuilder trace;
  CollectingSink sink;
};

/// A waker and a woken thread on one CPU.
class PingPong : public Convert {
protected:
  PingPong() {
    trace.cpu(0)
        .at(1000)
        .start()
        .id(1, 10, 10, "app")
        .id(2, 11, 10, "worker")
        .at(1100)
        .dispatch(1, 121)
        .at(1200)
        .activate_new(2, 10)
        .at(1300)
        .epilogue(1, 11)
        .dispatch(2, 121)
        .at(1400)
        .sleep(2, 10)
        .dispatch(1, 121)
        .at(1500)
        .end(1, 10)
        .at(1600)
        .stop();
  }
};

TEST_F(PingPong, StatesFollowTheTableOfTheDesign) {
  ConvertResult result = run();
  EXPECT_EQ(result.faults, 0u);
  EXPECT_TRUE(result.untaken.empty());
  EXPECT_TRUE(sink.reported.empty() || sink.damage() == 0);
  EXPECT_EQ(timeline(threads(), 1, 4), (Timeline{{0, 0}, {100, 1}, {300, 4}, {400, 1}, {500, 3}}));
  EXPECT_EQ(timeline(threads(), 2, 4), (Timeline{{200, 5}, {300, 1}, {400, 2}}));
}

TEST_F(PingPong, TheCpuCopiesItsRunningThreadWithoutAGapAtASwitch) {
  run();
  EXPECT_EQ(timeline(cpus(), 1, 2), (Timeline{{100, 10}, {300, 11}, {400, 10}, {500, 0}}));
  EXPECT_EQ(timeline(cpus(), 1, 1), (Timeline{{100, 10}, {500, 0}}));
  EXPECT_EQ(timeline(cpus(), 1, 3), (Timeline{{0, 0}, {100, 1}, {500, 0}}));
}

TEST_F(PingPong, TheCpuOfAThreadIsItsIndexPlusOneAndNoneAtItsEnd) {
  run();
  EXPECT_EQ(timeline(threads(), 1, 6), (Timeline{{100, 1}, {500, 0}}));
}

TEST_F(PingPong, AWakeupIsAnArrowFromTheWakerToTheWoken) {
  run();
  std::vector<std::string> arrows;
  for (const std::string &line : lines_of(threads()))
    if (line[0] == '3')
      arrows.push_back(line);
  ASSERT_EQ(arrows.size(), 1u);
  EXPECT_EQ(arrows[0], "3:1:1:1:1:200:200:0:1:1:2:200:200:1:0");
}

TEST_F(PingPong, TheWakerIsShownWhileWarmingAndTheLatencyWhileRunning) {
  run();
  EXPECT_EQ(timeline(threads(), 2, 220), (Timeline{{200, 10}, {300, 0}}));
  EXPECT_EQ(timeline(threads(), 2, 221), (Timeline{{200, 1}, {300, 0}}));
  EXPECT_EQ(timeline(threads(), 2, 222), (Timeline{{300, 100}, {400, 0}}));
}

TEST_F(PingPong, TheReasonTheNextThreadAndThePriorityAreShown) {
  run();
  EXPECT_EQ(timeline(threads(), 1, 200), (Timeline{{300, 2}, {400, 0}}));
  EXPECT_EQ(timeline(threads(), 1, 201), (Timeline{{300, 11}, {400, 0}}));
  EXPECT_EQ(timeline(threads(), 2, 200), (Timeline{{400, 3}}));
  EXPECT_EQ(timeline(threads(), 1, 202), (Timeline{{100, 121}, {300, 0}, {400, 121}, {500, 0}}));
  EXPECT_EQ(timeline(cpus(), 1, 202), (Timeline{{100, 121}, {500, 0}}));
}

TEST_F(PingPong, FilesBesideTheTraceNameRowsTypesAndValues) {
  run();
  EXPECT_NE(test::text_of(dir / "thread.row").find("app (10)\nworker (11)"), std::string::npos);
  EXPECT_NE(test::text_of(dir / "cpu.row").find("CPU 0"), std::string::npos);
  std::string pcf = test::text_of(dir / "thread.pcf");
  EXPECT_NE(pcf.find("0    4    Thread state"), std::string::npos);
  EXPECT_NE(pcf.find("5    Warming"), std::string::npos);
  EXPECT_NE(test::text_of(dir / "cpu.pcf").find("app (10)"), std::string::npos);
  EXPECT_FALSE(test::text_of(dir / "cfg/thread/state.cfg").empty());
  EXPECT_FALSE(test::text_of(dir / "cfg/cpu/running-threads.cfg").empty());
}

TEST_F(PingPong, TheHeaderReportsTheEndOfTheCaptureAndTheObjects) {
  run();
  std::string header = lines_of(threads()).at(0);
  EXPECT_NE(header.find("600_ns:1(1):1:1(2:1)"), std::string::npos) << header;
  header = lines_of(cpus()).at(0);
  EXPECT_NE(header.find("600_ns:0:1:1(1:1)"), std::string::npos) << header;
}

TEST_F(PingPong, ACutKeepsTheStatesThatHoldAtItsBegin) {
  ConvertOptions options;
  options.cut.from = 250;
  options.cut.to = 420;
  run(options);
  EXPECT_EQ(timeline(threads(), 1, 4), (Timeline{{0, 1}, {50, 4}, {150, 1}}));
  EXPECT_EQ(timeline(threads(), 2, 4), (Timeline{{0, 5}, {50, 1}, {150, 2}}));
  EXPECT_EQ(timeline(threads(), 2, 220), (Timeline{{0, 10}, {50, 0}}));
  EXPECT_EQ(timeline(cpus(), 1, 2), (Timeline{{0, 10}, {50, 11}, {150, 10}}));
  EXPECT_NE(lines_of(threads()).at(0).find("170_ns"), std::string::npos);
}

TEST_F(PingPong, ACutContainsItsLastInstant) {
  ConvertOptions options;
  options.cut.to = 400;
  run(options);
  EXPECT_EQ(timeline(threads(), 2, 4), (Timeline{{200, 5}, {300, 1}, {400, 2}}));
  EXPECT_NE(lines_of(threads()).at(0).find("400_ns"), std::string::npos);
}

TEST_F(PingPong, PunctualEventsBeforeACutAreNotInIt) {
  for (uint64_t from : {200, 201}) {
    ConvertOptions options;
    options.cut.from = from;
    run(options);
    size_t arrows = 0;
    for (const std::string &line : lines_of(threads()))
      arrows += line[0] == '3';
    EXPECT_EQ(arrows, from == 200 ? 1u : 0u) << from;
  }
}

TEST_F(PingPong, TheEventsOfACutAreCounted) {
  EXPECT_EQ(run().events, 9u);
  ConvertOptions time;
  time.cut.from = 250; // two switches of two events each
  time.cut.to = 420;
  EXPECT_EQ(run(time).events, 4u);
  ConvertOptions thread;
  thread.cut.tids = {11}; // woken, runs, sleeps; and the CPU's begin and end
  EXPECT_EQ(run(thread).events, 5u);
}

TEST_F(PingPong, ACutByTidLeavesOneRowAndCpusThatShowOnlyThatThread) {
  ConvertOptions options;
  options.cut.tids = {11};
  run(options);
  EXPECT_EQ(timeline(threads(), 1, 4), (Timeline{{0, 0}, {200, 5}, {300, 1}, {400, 2}}));
  EXPECT_EQ(timeline(cpus(), 1, 2), (Timeline{{300, 11}, {400, 0}}));
}

// A kernel that hides the switches of some threads is a known limit: one line, and no fault.
TEST_F(PingPong, SwitchesThatWereNotSeenAreReportedInOneLine) {
  trace.cpu(1).at(1000).start().id(1, 12, 12, "hidden").id(2, 13, 13, "other");
  for (uint64_t n = 0; n < 30; n++)
    trace.cpu(1)
        .at(1100 + 20 * n)
        .dispatch(1)
        .at(1110 + 20 * n)
        .dispatch(2)
        .at(1115 + 20 * n)
        .sleep(2);
  trace.cpu(1).at(1990).stop();
  sink.reported.clear();
  EXPECT_EQ(run().faults, 0u);
  EXPECT_EQ(sink.damage(), 0u);
  EXPECT_EQ(sink.count("still runs"), 0u);
  EXPECT_EQ(
      sink.count("30 switches by which 1 thread left a CPU were not seen, as some kernels hide "
                 "some: hidden (12)"),
      1u);
  ConvertOptions lint;
  lint.lint = true;
  EXPECT_EQ(run(lint).faults, 30u);
}

TEST_F(PingPong, UnseenSwitchesBeforeTheStartAreNotReported) {
  auto &cpu = trace.cpu(1).at(900).id(1, 12, 12, "hidden").id(2, 13, 13, "other");
  for (uint64_t n = 0; n < 3; n++)
    cpu.at(910 + 20 * n).dispatch(1).at(920 + 20 * n).dispatch(2).at(925 + 20 * n).sleep(2);
  cpu.at(1000).start().at(1100).dispatch(1).at(1200).dispatch(2).at(1990).stop();
  ConvertOptions lint;
  lint.lint = true;
  EXPECT_EQ(run(lint).faults, 1u) << "the one after the start";
  EXPECT_EQ(run().faults, 0u);
  EXPECT_EQ(sink.count("1 switch by which 1 thread left a CPU was not seen"), 1u);
}

TEST_F(PingPong, ACutByTidReplaysTheThreadsThatItLeavesOut) {
  trace.cpu(1)
      .at(1000)
      .start()
      .id(1, 12, 12, "snapped")
      .id(2, 13, 13, "left out")
      .at(1450)
      .dispatch(2)
      .at(1460)
      .snapshot(1, 1, 1) // cannot run where 13 does
      .at(1470)
      .snapshot(1, 2, 1)
      .at(1475)
      .record(FTrace_EVT_user_event_0, 0, 7) // of 13
      .at(1480)
      .dispatch(1) // while 13 still runs there
      .at(1600)
      .stop();
  ConvertOptions lint;
  lint.lint = true;
  const uint64_t faults = run(lint).faults;
  const Timeline whole = timeline(threads(), 1, 4, 2);
  EXPECT_EQ(whole, (Timeline{{470, 2}, {480, 1}}));
  EXPECT_EQ(faults, 1u) << "13 still runs";
  ConvertOptions options;
  options.lint = true;
  options.cut.tids = {12};
  EXPECT_EQ(run(options).faults, faults);
  EXPECT_EQ(timeline(threads(), 1, 4), (Timeline{{0, 0}, {470, 2}, {480, 1}}));
  EXPECT_EQ(timeline(cpus(), 1, 3), (Timeline{{0, 0}}));
  EXPECT_EQ(timeline(cpus(), 2, 3), (Timeline{{480, 1}}));
}

TEST_F(PingPong, ACutByNameTakesPatterns) {
  ConvertOptions options;
  options.cut.comms = {"work*"};
  run(options);
  EXPECT_NE(test::text_of(dir / "thread.row").find("LEVEL THREAD SIZE 1\nworker (11)"),
            std::string::npos);
}

TEST_F(PingPong, ACutThatLeavesNothingIsAnError) {
  ConvertOptions options;
  options.directory = dir / "nothing";
  options.cut.pids = {999};
  EXPECT_THROW(run(options), Error);
  options.cut.pids.clear();
  options.cut.cpus = {7};
  EXPECT_THROW(run(options), Error);
  options.cut.cpus.clear();
  options.cut.from = 1'000'000'000'000; // behind the end
  try {
    run(options);
    ADD_FAILURE() << "an empty trace and no error";
  } catch (const Error &error) {
    EXPECT_EQ(error.status(), kExitFailure) << error.what();
  }
  EXPECT_FALSE(std::filesystem::exists(options.directory));
}

TEST_F(Convert, EachChannelHasAViewOfItsOwn) {
  const std::string longest(300, 'x');
  const std::vector<std::string> names = {"state", "phase 1", "phase-1", longest + "1",
                                          longest + "2"};
  std::string channels, events;
  auto &cpu = trace.cpu(0).at(1000).start().id(1, 10, 10, "app").dispatch(1);
  for (size_t i = 0; i < names.size(); i++) {
    const char *comma = i ? ", " : "";
    channels += fmt::format(R"({}{{"name": "{}", "type": {}}})", comma, names[i], 1000 + i);
    events += fmt::format(R"({}{{"event": {}, "action": "set", "channel": "{}", "value": "par2"}})",
                          comma, i, names[i]);
    cpu.at(1100 + i).record(uint16_t(FTrace_EVT_user_event_0 + (i << 4)), 0, 1);
  }
  cpu.at(1200).sleep(1).stop();
  std::ofstream(dir / "model.json")
      << fmt::format(R"({{"name": "mine", "channels": [{}], "events": [{}]}})", channels, events);
  ConvertOptions options;
  options.model_files = {dir / "model.json"};
  run(options);
  std::set<int> types;
  for (const auto &file : std::filesystem::directory_iterator(dir / "cfg/thread")) {
    const std::string text = test::text_of(file.path());
    if (text.find("< NEW ANALYZER2D >") != std::string::npos)
      continue; // of a type that has a timeline too
    const std::string tag = "window_filter_module evt_type 1 ";
    const size_t at = text.find(tag);
    ASSERT_NE(at, std::string::npos) << text;
    EXPECT_TRUE(types.insert(std::stoi(text.substr(at + tag.size()))).second) << file.path();
  }
  for (int type : {4, 1000, 1001, 1002, 1003, 1004})
    EXPECT_EQ(types.count(type), 1u) << type;
}

/// Two hosts with one thread each.
class TwoHosts : public ::testing::Test {
protected:
  TwoHosts() {
    for (const char *host : {"one", "two"}) {
      std::filesystem::create_directory(dir / host);
      TraceBuilder trace(dir / host);
      trace.cpu(0).at(1000).start().id(1, 10, 10, host).dispatch(1).at(1100).sleep(1).stop();
      trace.json(std::string(R"({"version": 1, "host": ")") + host + R"(.site"})").write();
    }
  }
  void table(const std::string &lines) {
    std::ofstream(dir / "offsets.txt") << "rank hostname offset_median offset_mean offset_std\n"
                                       << lines;
  }
  std::vector<TraceInput> inputs() {
    return trace_inputs({dir / "one", dir / "two"}, dir / "offsets.txt");
  }
  TempDir dir;
  CollectingSink sink;
};

TEST_F(TwoHosts, BecomeTwoNodesOfOneTimelineOnOneClock) {
  table("0 one 0 0 0\n1 two 50 50 1\n");
  std::unique_ptr<EventSource> source = open_trace(inputs(), sink);
  ConvertOptions options;
  options.directory = dir / "out";
  convert(*source, options, sink);
  std::string prv = dir / "out/thread.prv";
  EXPECT_NE(lines_of(prv).at(0).find(":2(1,1):1:2(1:1,1:2)"), std::string::npos)
      << lines_of(prv).at(0);
  EXPECT_EQ(timeline(prv, 1, 4, 1), (Timeline{{0, 1}, {100, 0}})) << "Unknown when it has ended";
  EXPECT_EQ(timeline(prv, 1, 4, 2), (Timeline{{50, 1}, {150, 2}}));
  EXPECT_EQ(timeline(prv, 1, 6, 2), (Timeline{{50, 2}})) << "the second of all CPUs";
  std::vector<std::string> cpus; // as thread.pcf calls the values 1 and 2 of a CPU
  for (const std::string &line : lines_of(dir / "out/thread.pcf"))
    if (line.find("CPU 0") != line.npos)
      cpus.push_back(line);
  ASSERT_GE(cpus.size(), 2u);
  EXPECT_EQ(cpus[0].substr(0, 2), "1 ") << cpus[0];
  EXPECT_EQ(cpus[1].substr(0, 2), "2 ") << cpus[1];
  EXPECT_EQ(timeline(dir / "out/cpu.prv", 2, 2), (Timeline{{50, 10}, {150, 0}}));
}

TEST_F(TwoHosts, NeedTheOffsetOfEachInATableThatIsRight) {
  EXPECT_THROW(inputs(), Error) << "no table";
  table("0 one 0 0 0\n");
  EXPECT_THROW(inputs(), Error) << "no host two";
  table("0 one zero 0 0\n1 two 0 0 0\n");
  EXPECT_THROW(inputs(), Error);
}

} // namespace
} // namespace ovnitrace
