// SPDX-License-Identifier: BSD-2-Clause
// What ovniemu 1.14 refuses of a stream is reported and counted, and its conversion goes on.
#include "emulator/convert/convert.h"
#include "emulator/open/open_trace.h"
#include "tests/unit/support/ovni_streams.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace ovnitrace::test {
namespace {

constexpr const char *kMarks =
    R"(, "mark": {"3": {"title": "st", "chan_type": "stack"}, "7": {"title": "si", "chan_type": "single"}})";
constexpr const char *kCpus =
    R"(, "loom_cpus": [{"index": 0, "phyid": 0}, {"index": 1, "phyid": 1}])";
constexpr const char *kKernel = R"({"ovni": "1.1.0", "kernel": "1.0.0"})";

std::string mark(const char *mcv, uint64_t time, int64_t value, int32_t type) {
  return stream_event(mcv, time, bytes_of(value) + bytes_of(type));
}
std::string event(const char *mcv, uint64_t time) {
  return stream_event(mcv, time);
}

struct OvniLint : ::testing::Test {
  ConvertResult lint(const std::string &events, const Cut &cut = {}, bool lint = true,
                     const std::string &more = std::string(kCpus) + kMarks) {
    const std::string place = dir / stream_place("n", 10, 10);
    std::string json = stream_json("n", 10, 10, more);
    const std::string require = R"({"ovni": "1.1.0"})";
    json.replace(json.find(require), require.size(), kKernel);
    write_file(place + "/stream.json", json);
    write_file(place + "/stream.obs", stream_header() + events);
    return lint_written(cut, lint);
  }
  ConvertResult lint_written(const Cut &cut = {}, bool lint = true) {
    sink.reported.clear();
    std::unique_ptr<EventSource> source = open_trace({{dir.path(), 0}}, sink);
    ConvertOptions options;
    options.directory = dir / "out";
    options.lint = lint;
    options.cut = cut;
    return convert(*source, options, sink);
  }
  TempDir dir;
  CollectingSink sink;
};

TEST_F(OvniLint, SaysNothingOfAGoodStream) {
  ConvertResult result =
      lint(execute(1, 0) + event("OF[", 2) + event("OF]", 3) + mark("OM[", 4, 1, 3) +
           mark("OM]", 5, 1, 3) + mark("OM=", 6, 1, 7) + mark("OM=", 7, 1, 7) + event("OU[", 8) +
           event("OB.", 9) + event("OUj", 10) + event("OU]", 11) + event("KCO", 12) +
           event("KCI", 13) + event("OHe", 14));
  EXPECT_EQ(result.faults, 0u);
  EXPECT_TRUE(sink.reported.empty()) << sink.reported.front().what;
  EXPECT_TRUE(result.untaken.empty());
}

TEST_F(OvniLint, ReportsTheFaultsThatOvniemuRefuses) {
  const struct {
    std::string events; ///< between OHx and OHe
    const char *reported;
    uint64_t faults = 1;
  } cases[] = {
      {mark("OM[", 3, 1, 7) + mark("OM]", 4, 1, 7),
       "OM[ of thread 10 on mark 7, which is single, no stack", 2},
      {mark("OM=", 3, 1, 3), "OM= of thread 10 on mark 3, which is a stack"},
      {mark("OM=", 3, 1, 9), "OM= of thread 10 on mark 9, which no stream.json declares"},
      {event("OF]", 3), "OF]: thread 10 does not flush"},
      {event("OF[", 3) + event("OF[", 4) + event("OF]", 5), "OF[: thread 10 is flushing already"},
      {event("KCO", 3) + event("KCO", 4) + event("KCI", 5),
       "KCO: thread 10 is out of the CPU already"},
      {event("KCO", 3) + event("OHp", 4) + event("OHr", 5) + event("KCI", 6),
       "OHp of thread 10, which is out of its CPU since KCO", 2},
      {event("KCO", 3) + event("OB.", 4) + event("KCI", 5),
       "OB. of thread 10, which is out of its CPU"},
      {event("OHz", 3), "OHz of thread 10: its model has no such event"},
      {event("OAz", 3), "OAz of thread 10: its model has no such event"},
      {event("OZa", 3), "OZa of thread 10: its model has no such event"},
      {event("KCz", 3), "KCz of thread 10: its model has no such event"},
  };
  for (const auto &c : cases)
    for (bool strict : {true, false}) {
      EXPECT_EQ(lint(execute(1, 0) + c.events + event("OHe", 9), {}, strict).faults, c.faults)
          << c.reported;
      EXPECT_TRUE(reported(sink, c.reported))
          << c.reported << "\n"
          << (sink.reported.empty() ? "" : sink.reported[0].what);
    }
}

TEST_F(OvniLint, AThreadMustBeDeadAtTheEndOfTheTraceAndNotOfACut) {
  const std::string events = execute(1, 0) + mark("OM[", 2, 1, 3) + event("OHc", 5);
  EXPECT_EQ(lint(events).faults, 2u);
  EXPECT_TRUE(reported(sink, "thread 10 is Cooling at the end of the trace, not Dead"));
  EXPECT_EQ(sink.reported.back().file, "") << "it is no event's fault";
  Cut cut;
  cut.to = 3; // of 4
  EXPECT_EQ(lint(events, cut).faults, 0u) << "both may be ended yet";
  cut.to = 4;
  EXPECT_EQ(lint(events, cut).faults, 2u) << "all of it";
  EXPECT_EQ(lint(events, {}, false).faults, 0u);
}

TEST_F(OvniLint, AStreamOfNothingOnNoCpuIsConverted) {
  EXPECT_EQ(lint("", {}, true, kMarks).faults, 1u);
  EXPECT_TRUE(reported(sink, "thread 10 is Unknown at the end"));
}

TEST_F(OvniLint, ReportsModelVersionsThatAreNotKnown) {
  const std::pair<const char *, bool> cases[] = {
      {R"({"ovni": "1.0.0"})", true},    {R"({"ovni": "1.1.7", "nosv": "2.7.9"})", true},
      {R"({"ovni": "1.2.0"})", false},   {R"({"ovni": "666.66.6"})", false},
      {R"({"ovni": "1.1"})", false},     {R"({"nosv": "9.9.9"})", false},
      {R"({"kernel": "2.0.0"})", false}, {"3", false},
  };
  for (const auto &[require, good] : cases) {
    std::string json = stream_json("n", 10, 10);
    const std::string before = R"({"ovni": "1.1.0"})";
    json.replace(json.find(before), before.size(), require);
    const std::string place = dir / stream_place("n", 10, 10);
    write_file(place + "/stream.json", json);
    write_file(place + "/stream.obs", stream_header() + execute(1, 0) + event("OHe", 2));
    lint_written();
    EXPECT_EQ(!reported(sink, "stream.json: ovni.require "), good) << require;
    EXPECT_EQ(sink.damage() == 0, good) << require;
  }
}

TEST_F(OvniLint, NamesCannotSpeakToATerminal) {
  const std::string bad = "a\\u001b[31mb\\r\\n\\u009bc", good = "a?[31mb????c";
  std::string json = stream_json(bad, 10, 10, std::string(kCpus) + R"(, "mark": {"\u001b": {}})");
  json.insert(json.size() - 1, R"(, "ovnitrace": {"name": ")" + bad + "\"}");
  const std::string place = dir / "loom.\x1b[1m/proc.10/thread.10";
  write_file(place + "/stream.json", json);
  write_file(place + "/stream.obs", stream_header() + execute(1, 7) + event("OH\x1b", 2));
  std::unique_ptr<EventSource> source = open_trace({{dir.path(), 0}}, sink);
  const Catalog &catalog = source->catalog();
  EXPECT_EQ(catalog.threads.at(0).name, good);
  EXPECT_EQ(catalog.hosts.at(0).name, good);
  lint_written();
  EXPECT_FALSE(sink.reported.empty());
  for (const Diagnostic &d : sink.reported)
    EXPECT_TRUE(std::none_of(d.what.begin(), d.what.end(), iscntrl) &&
                std::none_of(d.file.begin(), d.file.end(), iscntrl))
        << d.file << ": " << d.what;
}

TEST_F(OvniLint, ATidOfTwoHostsIsLabelledWithBothNames) {
  for (int host = 0; host < 6; host++) {
    const std::string loom = "h" + std::to_string(host);
    std::string json = stream_json(loom, 100, 100);
    json.insert(json.size() - 1, R"(, "ovnitrace": {"name": ")" +
                                     std::string(host ? "beta" + loom.substr(1) : "alpha") + "\"}");
    write_file(dir / (stream_place(loom, 100, 100) + "/stream.json"), json);
    write_file(dir / (stream_place(loom, 100, 100) + "/stream.obs"),
               stream_header() + execute(1, 0) + event("OHe", 2));
    if (host == 1) {
      lint_written();
      const std::string pcf = text_of(dir / "out/cpu.pcf");
      const std::string both = "100    alpha (100) | beta1 (100)\n";
      const size_t at = pcf.find(both);
      ASSERT_NE(at, std::string::npos) << pcf;
      EXPECT_NE(pcf.find(both, at + 1), std::string::npos) << "PID and TID";
      EXPECT_NE(pcf.find("1    alpha (100)\n"), std::string::npos) << "each process has its number";
    }
  }
  lint_written();
  EXPECT_NE(text_of(dir / "out/cpu.pcf")
                .find("alpha (100) | beta1 (100) | beta2 (100) | beta3 (100) | …\n"),
            std::string::npos);
}

} // namespace
} // namespace ovnitrace::test
