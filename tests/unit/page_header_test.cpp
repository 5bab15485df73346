// SPDX-License-Identifier: BSD-2-Clause
// The header of the page of `ovnitrace report`: the page reads it by these names.
#include "emulator/critical/path.h"
#include "emulator/open/open_trace.h"
#include "emulator/report/why_part.h"
#include "emulator/report/write_report.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/files.h"
#include "tests/unit/support/packed_page.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <gtest/gtest.h>
#include <ovnitrace/control.h>

namespace ovnitrace {
namespace {

using nlohmann::json;
using test::PackedPage;
using Texts = std::vector<std::string>;

class PageHeader : public ::testing::Test {
protected:
  PageHeader() : trace(dir.path()) {}

  PackedPage page(std::span<CriticalPath> paths = {}) {
    const std::string place = out / "page.html";
    result = write_report(dir.path(), {}, [this] { return open_trace({{dir.path()}}, sink); },
                          {.place = place, .paths = paths});
    return PackedPage(test::text_of(place));
  }
  static Texts keys(const json &object) {
    Texts all;
    for (const auto &[key, value] : object.items())
      all.push_back(key);
    return all;
  }
  /// Two threads that wake and preempt each other; the second waits 30 ns and 4 ns.
  void two_threads() {
    trace.json(R"({"version": 1, "machine": "x86_64", "peers": [{"tid": 77, "pid": 77,
      "name": "out", "since_ns": 1}], "marks": [{"time_ns": 999, "text": "before"},
      {"time_ns": 1200, "text": "second"}, {"time_ns": 1000, "text": "first"},
      {"time_ns": 1600, "text": "last"}, {"time_ns": 1601, "text": "after"}]})");
    auto &cpu = trace.cpu(2).at(1000).start().id(1, 11, 11, "a").id(2, 22, 22, "b").dispatch(1);
    cpu.at(1020).activate(2, 11).at(1050).epilogue(1, 22).dispatch(2);
    cpu.at(1100).sleep(2, 11).dispatch(1).at(1150).activate(2, 77).at(1154).epilogue(1, 22);
    cpu.dispatch(2).at(1200).epilogue(2, 77).at(1250).dispatch(2).at(1300).sleep(2, 11);
    cpu.dispatch(1).at(1400).sleep(1).at(1450).activate(1, 0, FTRACE_WAKER_HARDIRQ).at(1459);
    cpu.dispatch(1).at(1600).stop();
    trace.write();
  }

  test::TempDir dir, out;
  test::TraceBuilder trace;
  test::CollectingSink sink;
  WriteReportResult result;
};

TEST_F(PageHeader, HasTheNamesThatThePageReads) {
  two_threads();
  const json header = page().header;
  EXPECT_EQ(keys(header),
            (Texts{"alarm",    "calls",           "chains",      "coarse_threads", "context_names",
                   "contexts", "counters",        "cpu_count",   "cpus",           "from",
                   "grain",    "latency",         "load_steps",  "marks",          "parts",
                   "places",   "places_left_out", "preemptions", "reason_names",   "reasons",
                   "series",   "slices",          "state_order", "states",         "threads",
                   "to",       "untraced",        "waits",       "wakeups",        "why"}));
  EXPECT_EQ(header["counters"][0],
            json::parse(R"({"name": "preempted", "is_switch": true, "if_any": false,
              "meaning": "lost its CPU to another thread while it could run"})"));
  EXPECT_EQ(header["reasons"]["1"], "Preempted");
  EXPECT_EQ(header["reason_names"]["1"], "preempted");
  EXPECT_EQ(header["contexts"]["1"], "Soft interrupt");
  EXPECT_EQ(header["context_names"]["1"], "softirq");
}

TEST_F(PageHeader, HasWhatIsSaidOfThreadsAndCpus) {
  two_threads();
  const json header = page().header;
  EXPECT_EQ(header["marks"], json::parse(R"([{"text": "first", "time": 0},
    {"text": "second", "time": 200}, {"text": "last", "time": 600}])"));
  EXPECT_EQ(header["latency"], json::parse(R"({"count": 3, "max": 30, "p50": 9, "p99": 30})"));
  EXPECT_EQ(header["preemptions"],
            json::parse(R"([{"by": 1, "thread": 0}, {"by": null, "thread": 1}])"));
  EXPECT_EQ(header["wakeups"], json::parse(R"([{"by": null, "thread": 0}, {"by": 0, "thread": 1},
    {"by": null, "thread": 1}])"));
  EXPECT_EQ(header["cpus"], json::parse(R"([{"index": 2, "node": 0}])"));
  EXPECT_EQ(header["untraced"],
            json::parse(R"([{"name": "out", "tid": 77}, {"name": "", "tid": 0}])"));
  EXPECT_EQ(header["threads"][1], json::parse(R"({"birth": 0, "main": 1, "name": "b", "node": 0,
    "pid": 22, "slices": 9, "start": 0, "tid": 22})"));
  EXPECT_EQ(header["slices"], 17);
}

TEST_F(PageHeader, HasWhoHeldTheCpu) {
  two_threads();
  const json header = page().header;
  EXPECT_EQ(header["waits"], json::parse(R"json({"left_out": 0, "sums": [
    {"known": true, "name": "b (22)", "ns": 146, "thread": 1, "waiter": 0
},
    {"known": false, "name": "unknown after the first that got it", "ns": 59, "thread": null,
     "waiter": 0},
    {"known": false, "name": "unknown after the first that got it", "ns": 50, "thread": null,
     "waiter": 1},
    {"known": true, "name": "a (11)", "ns": 34, "thread": 0, "waiter": 1}]
})json"));
  const json &why = header["why"];
  EXPECT_EQ(keys(why), (Texts{"blocks", "culprits", "idle", "kinds"}));
  EXPECT_EQ(why["culprits"], json::parse(R"json([
    {"kind": 1, "known": true, "name": "a", "text": "a (11)", "thread": 0, "untraced": false
  },
    {"kind": 1, "known": true, "name": "b", "text": "b (22)", "thread": 1, "untraced": false},
    {"kind": 2, "known": true, "name": "out", "text": "out (77), not traced", "thread": null,
     "untraced": true},
    {"kind": 4, "known": false, "name": "no traced thread",
     "text": "unknown after the first that got it", "thread": null, "untraced": false},
    {"kind": 5, "known": true, "name": "interrupt", "text": "an interrupt", "thread": null,
     "untraced": false},
    {"kind": 7, "known": true, "name": "nobody yet", "text": "nobody yet", "thread": null,
     "untraced": false}])json"));
  EXPECT_EQ(why["blocks"], json::parse(R"(["call not known"])"));
  EXPECT_EQ(why["idle"][1], json::parse(R"({"word": "scheduler", "name": "scheduler",
    "meaning": "another CPU was idle that the thread may use"})"));
  EXPECT_EQ(why["kinds"][1],
            json::parse(R"({"word": "preemption", "name": "after a preemption"})"));
  EXPECT_EQ(why["kinds"].size(), 9u);
}

/// Holder n of 1002 ran for n ns; 1000 holders have a line.
TEST_F(PageHeader, HasTheThousandLongestSumsOfWaits) {
  Catalog catalog;
  catalog.hosts.resize(1);
  catalog.threads.resize(2);
  Explanation why;
  for (uint32_t tid = 1; tid <= 1002; tid++)
    why.waits.push_back({.thread = 0,
                         .kind = WaitKind::preemption,
                         .holder = {Culprit::Kind::untraced, tid},
                         .ns = tid});
  why.waits.push_back(
      {.thread = 1, .kind = WaitKind::wakeup, .holder = {Culprit::Kind::untraced, 7}, .ns = 1002});
  why.waits.push_back({.thread = 1,
                       .kind = WaitKind::preemption,
                       .holder = {Culprit::Kind::untraced, 7},
                       .ns = 10'000});
  for (const WaitKind kind : {WaitKind::spin, WaitKind::throttling})
    why.waits.push_back({.thread = 0, .kind = kind, .holder = {}, .ns = 90'000});
  const json header = waits_header(catalog, why);
  ASSERT_EQ(header["sums"].size(), 1000u);
  EXPECT_EQ(header["left_out"], 1 + 2 + 3);
  EXPECT_EQ(header["sums"][0]["waiter"], 1) << "kinds of waits are summed up";
  EXPECT_EQ(header["sums"][0]["ns"], 11'002);
  EXPECT_EQ(header["sums"][1]["ns"], 1002);
  EXPECT_EQ(header["sums"][1]["name"], "thread 1002, not traced");
  EXPECT_EQ(header["sums"][999]["ns"], 4);
}

TEST_F(PageHeader, OfEqualSumsOfWaitsThoseOfTheFirstThreadComeFirst) {
  Catalog catalog;
  catalog.hosts.resize(1);
  catalog.threads.resize(2);
  Explanation why;
  for (const uint32_t thread : {1, 0})
    for (const uint32_t tid : {9, 8})
      why.waits.push_back({.thread = thread,
                           .kind = WaitKind::preemption,
                           .holder = {Culprit::Kind::untraced, tid},
                           .ns = 5});
  std::string order;
  const json header = waits_header(catalog, why);
  for (const json &sum : header["sums"])
    order += sum["waiter"].dump() + " " + sum["name"].get<std::string>() + "; ";
  EXPECT_EQ(order, "0 thread 8, not traced; 0 thread 9, not traced; "
                   "1 thread 8, not traced; 1 thread 9, not traced; ");
}

TEST_F(PageHeader, HasTheFirstTwoHundredMarks) {
  json marks = json::array();
  for (uint64_t n = 0; n < 201; n++)
    marks.push_back({{"time_ns", 1000 + n}, {"text", std::to_string(n)}});
  trace.json(json{{"version", 1}, {"marks", marks}}.dump());
  trace.cpu(0).at(1000).start().at(2000).stop();
  trace.write();
  const json shown = page().header["marks"];
  ASSERT_EQ(shown.size(), 200u);
  EXPECT_EQ(shown[199], json::parse(R"({"text": "199", "time": 199})"));
}

TEST_F(PageHeader, HasTheTimesOutsideOfRegions) {
  auto &cpu = trace.cpu(0).at(1000).start().id(1, 11, 11, "a").at(1100);
  cpu.record(FTrace_EXT_region, 1, CONTROL_START << FTRACE_REGION_EVENT_SHIFT);
  cpu.snapshot(1, 1, 0).at(1300);
  cpu.record(FTrace_EXT_region, 1, CONTROL_STOP << FTRACE_REGION_EVENT_SHIFT).at(1500).stop();
  trace.json(
      R"({"version": 1, "control": {"chains": [{"name": "", "text": "start:enter_func:f"}]}})");
  trace.write();
  const json summary = json::parse(page().parts.at("summary"));
  EXPECT_EQ(summary["threads"][0]["outside_regions_ns"], 300);
}

TEST_F(PageHeader, HasTheCriticalPaths) {
  two_threads();
  std::vector<CriticalPath> paths;
  for (const uint32_t tid : {11u, 22u})
    paths.push_back(
        critical_path(*open_trace({{dir.path()}}, sink), {}, {}, {.tid = tid, .section = {}}));
  const PackedPage packed = page(paths);
  EXPECT_EQ(packed.header["critical_path"]["paths"],
            json::parse(R"([{"from": 0, "segments": 10, "thread": 0, "to": 600},
                            {"from": 0, "segments": 9, "thread": 1, "to": 600}])"));
  EXPECT_EQ(packed.header["critical_path"]["causes"][1], "Waiting for a CPU");
  EXPECT_EQ(packed.header["critical_path"]["causes"].size(), 15u);
  EXPECT_FALSE(result.path_left_out);
  std::string numbers;
  for (test::Numbers path(packed.parts.at("critical_path")); path.more();)
    numbers += std::to_string(path.next()) + " ";
  EXPECT_EQ(numbers, "50 0 0 50 0 1 54 0 0 46 0 1 50 0 1 50 0 1 100 0 0 50 0 6 9 0 1 141 0 0 "
                     "20 1 10 30 1 1 50 1 0 50 1 7 4 1 1 46 1 0 50 1 1 50 1 0 300 1 14 ");
}

/// An eighth of a page is for paths: 50,000 bytes. Each of these takes about 30,000.
TEST_F(PageHeader, HasOnlyThePathsThatFitTogether) {
  auto &cpu = trace.cpu(0).at(1000).start().id(1, 11, 11, "a").id(2, 22, 22, "b").dispatch(1);
  for (uint64_t n = 0; n < 5000; n++) {
    cpu.at(1100 + 200 * n).epilogue(1, 22).dispatch(2);
    cpu.at(1200 + 200 * n).epilogue(2, 11).dispatch(1);
  }
  cpu.at(1'001'500).stop();
  trace.write();
  std::vector<CriticalPath> paths;
  for (const uint32_t tid : {11u, 22u})
    paths.push_back(
        critical_path(*open_trace({{dir.path()}}, sink), {}, {}, {.tid = tid, .section = {}}));
  const std::string place = out / "page.html";
  result = write_report(dir.path(), {}, [this] { return open_trace({{dir.path()}}, sink); },
                        {.place = place, .most_bytes = 400'000, .paths = paths});
  const PackedPage packed(test::text_of(place));
  EXPECT_EQ(packed.header["critical_path"]["paths"].size(), 1u);
  EXPECT_EQ(packed.header["critical_path"]["paths"][0]["thread"], 0);
  EXPECT_GT(packed.parts.at("critical_path").size(), 25'000u);
  EXPECT_LT(packed.parts.at("critical_path").size(), 50'000u);
  EXPECT_FALSE(result.path_left_out);
}

} // namespace
} // namespace ovnitrace
