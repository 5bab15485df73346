// SPDX-License-Identifier: BSD-2-Clause
// `ovnitrace why`: the wait that hit a --trigger, the slowest waits, and what a capture of some
// CPUs does not know.
#include "emulator/cli/cut_options.h"
#include "emulator/summary/report.h"
#include "emulator/why/answered_summary.h"
#include "emulator/why/opening_lines.h"
#include "tests/unit/support/why_rig.h"

#include <fmt/format.h>

namespace ovnitrace {
namespace {

using nlohmann::json;
using test::kFutex;
using test::kMs;

class WhyOpening : public test::WhyRig {
protected:
  /// Lets worker (11) wait behind hog (22) for 40 ms, between waits behind batch (33) of 1 ms each.
  void waits(uint32_t hog_priority = 0) {
    auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "worker").id(2, 22, 22, "hog");
    cpu.id(3, 33, 33, "batch").dispatch(1);
    for (uint64_t n = 0; n < 199; n++) {
      const uint64_t time = kMs + n * 2 * kMs;
      cpu.at(time).epilogue(1, 33).dispatch(3).at(time + kMs).sleep(3, 11).dispatch(1);
      cpu.at(time + kMs + 1000).activate(3, 0, FTRACE_WAKER_HARDIRQ);
    }
    cpu.at(500 * kMs).epilogue(1, 22).dispatch(2, hog_priority).at(540 * kMs).sleep(2, 11);
    cpu.dispatch(1).at(600 * kMs).stop();
  }
  static Cut worker() {
    Cut cut;
    cut.tids = {11};
    return cut;
  }
};

TEST_F(WhyOpening, TheSlowestWaitsNameTheirOwnHolders) {
  waits();
  explain_all(worker());
  EXPECT_EQ(tail_line(input()), "The slowest 0.5 % of the waits (1 wait, 40.00 ms or longer) "
                                "were behind hog for 40.00 ms.");
  const json slowest = report()["slowest_waits"];
  EXPECT_EQ(slowest["count"], 1);
  EXPECT_EQ(slowest["of"], 200);
  EXPECT_EQ(slowest["holders"][0]["holder_tid"], 22);
  EXPECT_NE(why_text(input()).find("\nThe slowest "), std::string::npos);
}

TEST_F(WhyOpening, TheSlowestWaitsOfTwoHostsNameTheHoldersOfTheirHost) {
  const test::TempDir other_dir;
  test::TraceBuilder other(other_dir.path());
  const auto write = [](test::TraceBuilder &host, const char *name, uint64_t hold) {
    host.json(fmt::format(R"({{"version": 1, "cpu_holders": true, "machine": "x86_64",
                               "peers": [{{"tid": 77, "pid": 77, "name": "{}"}}]}})",
                          name));
    auto &cpu = host.cpu(0).at(0).start().id(1, 11, 11, "worker").dispatch(1);
    for (uint64_t n = 1; n <= 200; n++) {
      const uint64_t length = n == 200 ? hold : 1000;
      cpu.at(n * kMs).sleep(1, 77).at(n * kMs + 100).activate(1, 0, FTRACE_WAKER_HARDIRQ);
      cpu.record(FTrace_EXT_holder, 0, 77).at(n * kMs + length).dispatch(1);
    }
    cpu.at(300 * kMs).stop();
    host.write();
  };
  write(trace, "quiet", 1000);
  write(other, "hog", 40 * kMs);
  source = open_trace({{dir.path()}, {other_dir.path()}}, sink);
  stacks.emplace(source->catalog(), sink);
  why = explain(*source, {}, {}, &*stacks);
  info = read_trace_info(dir.path(), sink);
  EXPECT_EQ(report()["slowest_waits"]["holders"][0]["holder"], "hog");
}

TEST_F(WhyOpening, FewWaitsHaveNoSlowestOnes) {
  waits();
  Cut cut = worker();
  cut.from = 400 * kMs;
  explain_all(cut);
  EXPECT_EQ(tail_line(input()), "");
  EXPECT_EQ(report()["slowest_waits"], json());
}

TEST_F(WhyOpening, TheWaitThatHitATriggerComesFirst) {
  const auto with_mark = [&](const char *text, uint64_t time) {
    trace.json(fmt::format(R"({{"version": 1, "machine": "x86_64", "all_threads": true,
                               "marks": [{{"time_ns": 7, "text": "ready"}},
                                         {{"time_ns": {}, "text": "{}"}}]}})",
                           time, text));
  };
  waits();
  with_mark("latency 1.000 ms of worker(11)", 202 * kMs + 3000);
  explain_all();
  const std::string line = "The trigger hit: worker (11) waited 1.000 ms for CPU 0 from "
                           "0.201000 s: preempted by batch (33), which ran there.";
  EXPECT_EQ(hit_line(input()), line);
  EXPECT_EQ(why_text(input(), {.columns = 200}).find(line), 0u);
  EXPECT_EQ(report()["hit"]["start_ns"], 201 * kMs);
  EXPECT_EQ(report()["hit"]["holders"][0]["holder_tid"], 33);
  trace.json(R"j({"version": 1, "machine": "x86_64", "all_threads": true,
                  "marks": [{"time_ns": 202003000, "text": "latency 1.000 ms of worker(11)"},
                            {"time_ns": 202004000, "text": "latency 1.000 ms of hidden(99)"}]})j");
  explain_all();
  EXPECT_EQ(hit_line(input()), line) << "a later hit of a thread that is not shown";
  for (const char *other : {"latency 1.000 ms of other(12)", "blocked 1.000 ms of worker(11)",
                            "latency of nobody", "latency 1 ms of a(11x"}) {
    with_mark(other, 202 * kMs + 3000);
    explain_all();
    EXPECT_EQ(hit_line(input()), "") << other;
    EXPECT_EQ(report()["hit"], json()) << other;
  }
}

TEST_F(WhyOpening, AHitAfterARefillIsTheWholeWait) {
  trace.json(R"j({"version": 1, "machine": "x86_64", "all_threads": true,
                  "marks": [{"time_ns": 70000000, "text": "preempted 60.00 ms of worker(11)"}]})j");
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "worker").id(2, 22, 22, "hog").dispatch(1);
  cpu.at(10 * kMs).epilogue(1, 22, FTRACE_OFFCPU_THROTTLED).dispatch(2);
  cpu.at(69 * kMs).record(FTrace_EXT_refill, 1).at(70 * kMs).epilogue(2, 11).dispatch(1);
  cpu.at(100 * kMs).stop();
  explain_all();
  EXPECT_EQ(hit_line(input()),
            "The trigger hit: worker (11) waited 60.00 ms for CPU 0 from 0.010000 s: no CPU "
            "quota was left, for 59.00 ms; then it waited 1.000 ms, hog (22) ran there.");
  const json hit = report()["hit"];
  EXPECT_EQ(hit["start_ns"], 10 * kMs);
  EXPECT_EQ(hit["ns"], 60 * kMs);
  EXPECT_EQ(hit["throttled_ns"], 59 * kMs);
  EXPECT_EQ(hit["holders"][0]["ns"], kMs);
}

TEST_F(WhyOpening, TheBlockThatHitATriggerComesFirst) {
  trace.json(R"-({"version": 1, "machine": "x86_64", "all_threads": true,
                 "marks": [{"time_ns": 30000000, "text": "blocked 20.00 ms of a(b)(11)"}]})-");
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "a(b)").dispatch(1);
  block(cpu.at(10 * kMs), 1, kFutex).at(30 * kMs).activate(1, 0, FTRACE_WAKER_HARDIRQ).dispatch(1);
  block(cpu.at(31 * kMs), 1, kFutex).at(90 * kMs).stop();
  explain_all();
  EXPECT_EQ(hit_line(input()).find("The trigger hit: a(b) (11) was blocked 20.00 ms from "), 0u);
}

TEST_F(WhyOpening, AHolderWithARealTimePriorityIsSeen) {
  for (const uint32_t priority : {89u, 120u}) {
    waits(FTRACE_PRIO_BIAS + priority);
    Cut cut = worker();
    cut.from = 450 * kMs;
    explain_all(cut);
    const std::string advice = report()["answer"]["advice"];
    EXPECT_EQ(advice.find("real-time priority") != advice.npos, priority < 100) << advice;
    trace = test::TraceBuilder(dir.path());
  }
}

TEST_F(WhyOpening, ThreadsThatSleptNearlyAllTheTimeAreLeftOutOnlyAbove) {
  trace.json(R"({"version": 1, "machine": "x86_64", "filters": ["--comm app"], "tracer": "1"})");
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "app").id(2, 12, 11, "app").dispatch(1);
  cpu.snapshot(2, 2, 0, FTRACE_OFFCPU_SLEEP).at(100 * kMs).stop();
  explain_all();
  EXPECT_NE(
      why_text(input()).find("100 % is the sum of their lives, 200.0 ms\n(the sentences above "
                             "leave out threads that slept nearly all the time: 100 % is 100.0 ms "
                             "there)\n"),
      std::string::npos)
      << why_text(input());
}

TEST_F(WhyOpening, ThreadsThatAllSleptNearlyAllTheTimeAreNotLeftOut) {
  trace.json(R"({"version": 1, "machine": "x86_64", "filters": ["--comm app"], "tracer": "1"})");
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "app").id(2, 12, 11, "app");
  cpu.snapshot(1, 2, 0, FTRACE_OFFCPU_SLEEP).snapshot(2, 2, 0, FTRACE_OFFCPU_SLEEP);
  cpu.at(100 * kMs).stop();
  explain_all();
  EXPECT_NE(why_text(input()).find("100 % is the sum of their lives, 200.0 ms\n\n"),
            std::string::npos)
      << why_text(input());
}

TEST_F(WhyOpening, AZombieDoesNotHideTheOnlyLivingThread) {
  trace.json(R"({"version": 1, "filters": ["--comm app"], "tracer": "1"})");
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "app").id(2, 12, 12, "app");
  cpu.snapshot(1, 2, 0, FTRACE_OFFCPU_SLEEP).snapshot(2, 3, 0, FTRACE_OFFCPU_DEAD);
  cpu.at(100 * kMs).stop();
  explain_all();
  EXPECT_EQ(report()["answer"]["sentences"],
            "app (2 threads of 2 processes) ran for 0 % of its life and never waited for a CPU. It "
            "was blocked in calls that are not known for 100 %, and nobody has woken it.");
}

TEST_F(WhyOpening, WhatTheTraceDoesNotShowIsNotKnown) {
  for (const bool all : {true, false}) {
    trace = test::TraceBuilder(dir.path());
    trace.json(all ? R"({"version": 1, "all_threads": true})" : R"({"version": 1})");
    trace.cpu(0).at(0).start().id(1, 11, 11, "app").at(50 * kMs);
    trace.cpu(0).record(FTrace_EVT_interrupt_start, 9, 11).at(51 * kMs);
    trace.cpu(0).record(FTrace_EVT_interrupt_end, 9, 11).at(100 * kMs).stop();
    explain_all();
    EXPECT_EQ(report()["answer"]["sentences"],
              "It is not known when app (11) ran, waited for a CPU or was blocked.");
  }
}

TEST_F(WhyOpening, APartWithoutALivingThreadHasNoShares) {
  trace.json(R"({"version": 1})");
  auto &cpu = trace.cpu(0).at(0).start().at(10 * kMs).id(1, 11, 11, "app", 10 * kMs).create(1, 11);
  cpu.dispatch(1).at(100 * kMs).stop();
  for (const auto &[from, to] : {std::pair(0, 1), std::pair(50, 50)}) {
    Cut cut;
    cut.from = uint64_t(from) * kMs;
    cut.to = uint64_t(to) * kMs;
    explain_all(cut);
    EXPECT_EQ(report()["answer"]["sentences"],
              "None of these threads was alive in this part of the trace.");
  }
}

TEST_F(WhyOpening, ACaptureOfSomeCpusDoesNotCountTheOthers) {
  trace.json(R"({"version": 1, "machine": "x86_64", "tracer": "1", "filters": ["--cpu 1,3-4"],
                 "families": "sched, power", "cpu_holders": true})");
  trace.cpu(0).at(0).start().at(100 * kMs).stop();
  auto &cpu = trace.cpu(1).at(0).start().id(1, 11, 11, "a").id(2, 12, 11, "b").id(3, 13, 11, "c");
  cpu.dispatch(1);
  for (const uint16_t thread : {2, 3})
    cpu.activate(thread, 0, FTRACE_WAKER_HARDIRQ);
  cpu.at(50 * kMs).epilogue(1, 12).dispatch(2).at(100 * kMs).stop();
  explain_all();
  EXPECT_EQ(report()["answer"]["advice"], "") << "how many CPUs these threads may use is not known";
  EXPECT_NE(why_text(input()).find("Record all CPUs."), std::string::npos) << why_text(input());
  source = open_trace({{dir.path()}}, sink);
  const AnsweredSummary of = summarize_and_answer(*source, info, {}, nullptr);
  const std::string text = text_report({path, info, source->catalog(), of.summary});
  EXPECT_NE(text.find("CPU 0               -"), std::string::npos) << text;
  EXPECT_NE(text.find("threads of the machine that pass the filters"), std::string::npos) << text;
  const json cpus = json::parse(json_report({path, info, source->catalog(), of.summary}))["cpus"];
  EXPECT_EQ(cpus[0]["busy_ns"], nullptr);
  EXPECT_EQ(cpus[1]["busy_ns"], 100 * kMs);
}

TEST_F(WhyOpening, AFileOfOneCpuIsOnlyAPart) {
  waits();
  trace.write();
  open_trace({{dir.path()}}, sink);
  EXPECT_TRUE(sink.reported.empty());
  open_trace({{trace.file(0)}}, sink);
  ASSERT_FALSE(sink.reported.empty());
  EXPECT_NE(sink.reported[0].what.find("name the directory " + dir.path()), std::string::npos);
}

TEST(WhyCommand, ChoosesTheSamePartInAShell) {
  CutArguments arguments;
  EXPECT_EQ(why_command("/tmp/run-1", arguments), "ovnitrace why /tmp/run-1");
  ASSERT_TRUE(parse_trace_time("mark:a b", arguments.from));
  ASSERT_TRUE(parse_trace_time("1.5s", arguments.to));
  arguments.cut.pids = {7};
  arguments.cut.tids = {1, 2};
  arguments.cut.comms = {"redis*", "it's"};
  EXPECT_EQ(why_command("run 1", arguments), "ovnitrace why 'run 1' --from 'mark:a b' --to 1.5s "
                                             "--pid 7 --tid 1,2 --comm 'redis*,it'\\''s'");
}

} // namespace
} // namespace ovnitrace
