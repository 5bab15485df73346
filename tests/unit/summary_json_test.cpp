// SPDX-License-Identifier: BSD-2-Clause
// Every member of the JSON of `ovnitrace info`, of two hosts and of a range in the trace.
#include "emulator/summary/report.h"
#include "emulator/summary/summary.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <ovnitrace/control.h>
#include <ovnitrace/ftrace_codes.h>

#include <string>

namespace ovnitrace {
namespace {

/// Threads 11 and 12 of process 11 on host 0, and thread 11 on host 1. The trace is from 1000 to
/// 9000, the range from 2000 to 8000.
class SummaryJson : public testing::Test {
protected:
  SummaryJson() {
    catalog.hosts = {{.name = "one"}, {.name = "two"}};
    catalog.begin = 1000;
    catalog.end = 9000;
    catalog.cpus = {{.index = 0, .host = 0}, {.index = 4, .host = 1}};
    catalog.threads = {{.tid = 11, .pid = 11, .name = "app"},
                       {.tid = 12, .pid = 11, .parent = 11, .birth = 1500, .name = "worker"},
                       {.tid = 11, .pid = 11, .host = 1, .name = "far"}};
    summary.from = 2000;
    summary.to = 8000;
    summary.shown = {1, 1, 1};
    summary.threads.resize(3);
    summary.cpus.resize(2);
    for (uint32_t t = 0; t < 3; t++)
      summary.threads[t].time[size_t(ThreadState::Running)] = 300 - 100 * t;
  }
  nlohmann::ordered_json json(const ReportOptions &options = {}) {
    return nlohmann::ordered_json::parse(
        json_report({path, info, catalog, summary, answer}, options));
  }
  /// Returns a member without blanks.
  std::string text(const char *key) { return json()[key].dump(); }
  /// Returns a member of each element of a list.
  std::string each(const char *list, const char *key) {
    std::string all;
    const auto elements = json()[list];
    for (const auto &element : elements)
      all += (all.empty() ? "" : " ") + element[key].dump();
    return all;
  }

  const std::string path = "the trace";
  TraceInfo info;
  Catalog catalog;
  Summary summary;
  Answer answer;
};

TEST_F(SummaryJson, HasItsMembersInThisOrder) {
  std::string keys;
  const auto all = json();
  for (const auto &[key, value] : all.items())
    keys += key + " ";
  EXPECT_EQ(keys,
            "schema trace host kernel machine command answer tracer ended begin_ns begin_wall_ns "
            "duration_ns events lost forgotten nodes threads cpus trace_begin_ns trace_duration_ns "
            "attached_pids filters all_threads families buffer stacks stacks_taken user processes "
            "command_lines names cgroups preemptions wakeups sections regions marks "
            "region_lengths ");
}

TEST_F(SummaryJson, SaysWhatTheTraceIs) {
  info.host = "h";
  info.kernel = "k";
  info.machine = "m";
  info.command = {"a", "b c"};
  info.tracer = "0.9";
  info.ended = "it exited";
  info.attached_pids = {7, 8};
  info.filters = {"--cpu 1"};
  info.all_threads = true;
  info.families = "mutex";
  info.buffer = "jtn";
  info.stacks = "user";
  info.stack_counts = {
      .all = 6, .distinct = 5, .with_program = 4, .cut = 3, .gapped = 2, .lost = 1};
  info.user = "nobody";
  info.to_wall_ns = -500;
  answer = {"It ran.", "Do nothing."};
  summary.events = 77;
  summary.lost = 5;
  summary.forgotten = 6;
  const std::string all = json_report({path, info, catalog, summary, answer}, {.one_line = true});
  const auto starts = [&](const std::string &with) { EXPECT_EQ(all.substr(0, with.size()), with); };
  starts(R"({"schema":1,"trace":"the trace","host":"h","kernel":"k","machine":"m",)"
         R"("command":["a","b c"],"answer":{"sentences":"It ran.","advice":"Do nothing."},)"
         R"("tracer":"0.9","ended":"it exited","begin_ns":2000,"begin_wall_ns":1500,)"
         R"("duration_ns":6000,"events":77,"lost":5,"forgotten":6,"nodes":["one","two"],)");
  const size_t from = all.find("\"trace_begin_ns\""), to = all.find(",\"processes\"");
  ASSERT_NE(from, all.npos);
  EXPECT_EQ(all.substr(from, to - from),
            R"("trace_begin_ns":1000,"trace_duration_ns":8000,"attached_pids":[7,8],)"
            R"("filters":["--cpu 1"],"all_threads":true,"families":"mutex","buffer":"jtn",)"
            R"("stacks":"user","stacks_taken":{"all":6,"distinct":5,"with_program":4,"cut":3,)"
            R"("gapped":2,"lost":1},"user":"nobody")");
}

TEST_F(SummaryJson, HasNullForWhatIsNotKnown) {
  summary.lost = 5;
  summary.lost_more = true;
  summary.cpus[0].lost_more = true;
  EXPECT_EQ(text("lost"), "null");
  EXPECT_EQ(text("begin_wall_ns"), "null");
  EXPECT_EQ(json()["cpus"][0].dump(),
            R"({"cpu":0,"node":0,"busy_ns":0,"switches":0,"unknown_ns":0,"lost":null,)"
            R"("interrupts_ns":0,"interrupts":[],"idle_states":[],"frequency":null,)"
            R"("stolen_ns":null})");
  const auto thread = json()["threads"][0];
  EXPECT_EQ(thread["cgroup"].dump(), "null");
  EXPECT_EQ(thread["wakeup_latency_ns"].dump(),
            R"({"count":0,"p50":null,"p99":null,"max":null,"max_at_ns":null})");
  EXPECT_EQ(thread["throttling"].dump(),
            R"({"count":0,"time_ns":0,"max_ns":null,"max_at_ns":null})");
  EXPECT_EQ(thread["idle_while_waiting"].dump(), "null");
}

TEST_F(SummaryJson, HasEachNumberOfAThread) {
  ThreadSummary &of = summary.threads[1];
  of.time = {};
  of.time[size_t(ThreadState::Running)] = 10;
  of.time[size_t(ThreadState::Cooling)] = 20;
  of.time[size_t(ThreadState::Warming)] = 30;
  of.time[size_t(ThreadState::Paused)] = 40;
  of.time[size_t(ThreadState::Unknown)] = 50;
  of.outside = 5;
  of.gate = 4;
  of.start_waits = 6;
  of.idle_known = 29;
  of.idle.ns = {1, 2, 3};
  of.preempted = 11;
  of.yielded = 12;
  of.throttled = 13;
  of.voluntary = 14;
  of.wakeups = 15;
  of.migrations = 16;
  of.latency.add(7);
  of.latency.add(9);
  of.latency_max_at = 2500;
  of.mutex_waits = {.count = 2, .time = 60, .max = 50, .max_at = 2600};
  of.waits_given_up = 1;
  of.throttling = {.count = 3, .time = 70, .max = 51, .max_at = 2700};
  of.found_waiting = 8;
  of.budgets = 17;
  of.budgets_used_up = 18;
  of.late = {.count = 4, .time = 80, .max = 52, .max_at = 2800};
  catalog.hosts[0].cgroups = {{"/a", "", "", ""}, {"/b", "", "", ""}};
  catalog.threads[1].cgroups = {{.since = 0, .cgroup = 0}, {.since = 8000, .cgroup = 1}};
  EXPECT_EQ(
      json({.sort = "preempted"})["threads"][0].dump(),
      R"({"tid":12,"pid":11,"parent":11,"node":0,"birth_ns":1500,"name":"worker","cgroup":"/b",)"
      R"("time_ns":{"running":10,"cooling":20,"warming":30,"paused":40,"unknown":50},)"
      R"("outside_regions_ns":5,"start_gate_ns":4,"start_waits_ns":6,)"
      R"("switches":{"preempted":11,"yielded":12,"throttled":13,"voluntary":14},)"
      R"("wakeups":15,"migrations":16,)"
      R"("wakeup_latency_ns":{"count":2,"p50":7,"p99":9,"max":9,"max_at_ns":1500},)"
      R"("mutex_waits":{"count":2,"time_ns":60,"max_ns":50,"max_at_ns":1600,"gave_up":1},)"
      R"("throttling":{"count":3,"time_ns":70,"max_ns":51,"max_at_ns":1700},)"
      R"("found_waiting_ns":8,"deadlines":{"budgets":17,"budgets_used_up":18,)"
      R"("missed":{"count":4,"time_ns":80,"max_ns":52,"max_at_ns":1800}},)"
      R"("idle_while_waiting":{"known_ns":29,"in_flight_ns":1,"scheduler_ns":2,"affinity_ns":3}})");
  EXPECT_EQ(each("threads", "node"), "0 1 0") << "the longest running first";
}

TEST_F(SummaryJson, HasEachNumberOfACpu) {
  summary.cpus[1] = {.busy = 100,
                     .switches = 9,
                     .lost = 4,
                     .unknown = 30,
                     .interrupts = 12,
                     .stolen = 3000,
                     .stolen_known = true};
  summary.cpus[1].interrupt[9] = {.count = 2, .time = 12, .max = 8, .max_at = 3000};
  summary.cpus[1].idle[1] = {.count = 1, .time = 20, .max = 20, .max_at = 3100};
  summary.cpus[1].frequency = {
      .changes = 2, .known = 10, .least = 100, .most = 300, .khz_ns = 2000};
  catalog.hosts[1].idle_states = {"POLL", "C1"};
  EXPECT_EQ(json()["cpus"][1].dump(),
            R"({"cpu":4,"node":1,"busy_ns":100,"switches":9,"unknown_ns":30,"lost":4,)"
            R"("interrupts_ns":12,"interrupts":[{"interrupt":9,"name":"IRQ 9","count":2,)"
            R"("time_ns":12,"max_ns":8,"max_at_ns":2000}],"idle_states":[{"state":1,"name":"C1",)"
            R"("count":1,"time_ns":20,"max_ns":20,"max_at_ns":2100}],)"
            R"("frequency":{"mean_khz":200,"min_khz":100,"max_khz":300,"changes":2,"known_ns":10},)"
            R"("stolen_ns":3000})");
  summary.cpus[1].frequency.known = 0;
  EXPECT_TRUE(json()["cpus"][1]["frequency"]["mean_khz"].is_null());
}

TEST_F(SummaryJson, ACpuThatIsNotRecordedIsNeitherBusyNorIdle) {
  info.cpus = 5;
  info.filters = {"--cpu 0"};
  summary.cpus[1] = {.busy = 100, .switches = 9, .unknown = 30};
  EXPECT_EQ(each("cpus", "busy_ns"), "0 null");
  EXPECT_EQ(each("cpus", "switches"), "0 null");
  EXPECT_EQ(each("cpus", "unknown_ns"), "0 null");
}

TEST_F(SummaryJson, HasProcessesNamesAndCgroups) {
  catalog.hosts[0].cgroups = {{"/x", "", "", ""}};
  catalog.threads[1].cgroups = {{.since = 0, .cgroup = 0}};
  const std::string states = R"("cooling":0,"warming":0,"paused":0,"unknown":0}})";
  EXPECT_EQ(text("processes"),
            R"([{"pid":11,"node":0,"name":"app","threads":2,"time_ns":{"running":500,)" + states +
                R"(,{"pid":11,"node":1,"name":"far","threads":1,"time_ns":{"running":100,)" +
                states + "]");
  EXPECT_EQ(each("names", "name"), R"("app" "worker" "far")");
  EXPECT_FALSE(json()["names"][0].contains("pid"));
  EXPECT_NE(text("cgroups").find(R"({"name":"/x","threads":1,"time_ns":{"running":200,)"),
            std::string::npos)
      << text("cgroups");
}

TEST_F(SummaryJson, HasTheCommandLineOfEachProcessThatIsShownOnce) {
  catalog.hosts[0].command_lines = {{.pid = 11, .text = "./app"}};
  catalog.hosts[1].command_lines = {{.pid = 11, .text = "./app"}};
  EXPECT_EQ(text("command_lines"), R"([{"pid":11,"node":0,"command_line":"./app"},)"
                                   R"({"pid":11,"node":1,"command_line":"./app"}])");
  for (const std::vector<uint8_t> &shown : {std::vector<uint8_t>{1, 1, 0}, {1, 0, 0}, {0, 1, 0}}) {
    summary.shown = shown;
    EXPECT_EQ(text("command_lines"), R"([{"pid":11,"node":0,"command_line":"./app"}])");
  }
}

TEST_F(SummaryJson, APairHasThePeerAndWhatIsKnownOfIt) {
  catalog.hosts[1].peers = {{.tid = 70, .name = "old"}, {.tid = 70, .name = "new"}};
  summary.preemptions = {{.thread = 0, .peer = 1, .tid = 12, .count = 9},
                         {.thread = 2, .peer = kNone, .tid = 70, .count = 5, .name = 1}};
  summary.wakeups = {{.thread = 1, .peer = kNone, .tid = 0, .count = 4},
                     {.thread = 1, .peer = kNone, .tid = kNone, .count = 3}};
  EXPECT_EQ(text("preemptions"), R"([{"tid":11,"node":0,"by_tid":12,"by_name":"worker","count":9},)"
                                 R"({"tid":11,"node":1,"by_tid":70,"by_name":"new","count":5}])");
  EXPECT_EQ(text("wakeups"), R"([{"tid":12,"node":0,"by_tid":0,"by_name":null,"count":4},)"
                             R"({"tid":12,"node":0,"by_tid":null,"by_name":null,"count":3}])");
}

TEST_F(SummaryJson, ASectionHasItsTimesAndPercentiles) {
  summary.sections[5] = {.count = 100, .time = 5050, .max = 100, .max_at = 3000};
  for (uint64_t ns = 1; ns <= 100; ns++)
    summary.section_lengths[5].add(ns);
  EXPECT_EQ(text("sections"),
            R"([{"section":5,"count":100,"time_ns":5050,"max_ns":100,"max_at_ns":2000,)"
            R"("p50_ns":50,"p90_ns":91,"p99_ns":99}])")
      << "above 64 ns, exact to 2 ns";
}

TEST_F(SummaryJson, ARegionIsOpenUntilTheEndIfNothingStopsIt) {
  summary.regions = {{.thread = 1,
                      .start = 3000,
                      .stop = 3700,
                      .chain = 2,
                      .of_thread = true,
                      .bcast = true,
                      .by_other = true,
                      .repeated_starts = 6,
                      .started_by = CONTROL_ICOUNT,
                      .stopped_by = CONTROL_PROGRAM,
                      .running = 400,
                      .waiting = 50},
                     {.thread = 2, .start = 4000, .started_by = CONTROL_NO_ALARM}};
  EXPECT_EQ(text("regions"),
            R"([{"tid":12,"pid":11,"node":0,"of_thread":true,"bcast":true,)"
            R"("by_other_thread":true,"repeated_starts":6,"chain":2,"start_ns":2000,)"
            R"("length_ns":700,"started_by":"icount","stopped_by":"program","running_ns":400,)"
            R"("waiting_ns":50},)"
            R"({"tid":11,"pid":11,"node":1,"of_thread":false,"bcast":false,)"
            R"("by_other_thread":false,"repeated_starts":0,"chain":null,"start_ns":3000,)"
            R"("length_ns":4000,"started_by":"begin","stopped_by":null,"running_ns":0,)"
            R"("waiting_ns":0}])");
}

TEST_F(SummaryJson, LengthsOfRegionsAreThoseOfStoppedOnes) {
  summary.regions = {{.start = 3000, .stop = 3060, .chain = 2},
                     {.start = 3000, .chain = 2},
                     {.start = 4000, .stop = 4010},
                     {.start = 5000, .stop = 5040, .chain = 2}};
  EXPECT_EQ(text("region_lengths"),
            R"([{"chain":null,"count":1,"time_ns":10,"max_ns":10,"p50_ns":10,"p90_ns":10,)"
            R"("p99_ns":10},)"
            R"({"chain":2,"count":2,"time_ns":100,"max_ns":60,"p50_ns":40,"p90_ns":60,)"
            R"("p99_ns":60}])");
}

TEST_F(SummaryJson, MarksBeforeTheTraceAreLeftOut) {
  catalog.hosts[0].marks = {{.time_ns = 999, .text = "early"}, {.time_ns = 1000, .text = "first"}};
  catalog.hosts[1].marks = {{.time_ns = 8500, .text = "later"}};
  EXPECT_EQ(text("marks"), R"([{"time_ns":0,"text":"first","node":0},)"
                           R"({"time_ns":7500,"text":"later","node":1}])");
}

} // namespace
} // namespace ovnitrace
