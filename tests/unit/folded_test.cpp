// SPDX-License-Identifier: BSD-2-Clause
// `ovnitrace export --to folded`: whole lines, by hand.
#include "emulator/off_cpu/folded.h"
#include "emulator/open/open_trace.h"
#include "emulator/slices/slicer.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <gtest/gtest.h>

namespace ovnitrace {
namespace {

using test::TempDir;
using test::TraceBuilder;
using Texts = std::vector<std::string>;

constexpr const char *kStacks = R"json({"format": "ovnitrace", "version": 1, "begin_ns": 1000,
  "machine": "x86_64", "options": {"stacks": "kernel,user"},
  "stack_frames": [{"kernel": true, "function": "schedule"}, {"function": "operator;"},
                   {"function": "main"}],
  "stacks": [{"kernel": [0], "user": [1, 2]}, {"user": [2]}]})json";

class FoldedLines : public ::testing::Test {
protected:
  /// The lines of these traces; what was summed stays for blocked() and so on.
  Texts lines(const std::vector<TraceInput> &inputs, const OffCpuOptions &options = {}) {
    source_ = open_trace(inputs, sink_);
    const Stacks stacks(source_->catalog(), sink_);
    times_.emplace(source_->catalog(), stacks, options);
    replay_slices(*source_, {}, *times_);
    Texts all;
    each_folded(*times_, options.per_thread, [&](const std::string &stack, uint64_t ns) {
      all.push_back(stack + " " + std::to_string(ns));
    });
    return all;
  }

  TempDir one_, two_;
  test::CollectingSink sink_;
  std::unique_ptr<EventSource> source_;
  std::optional<OffCpuTimes> times_;
};

/// A main thread "a;b" with a worker. Both are blocked, the worker also without a stack.
void write_app(const std::string &directory, uint64_t longer, std::string json = kStacks) {
  TraceBuilder trace(directory);
  auto &cpu = trace.cpu(0).at(1000).start().id(1, 11, 11, "a;b").id(2, 12, 11, "worker");
  cpu.dispatch(1).at(1100).record(FTrace_EXT_stack, 1, 1).sleep(1, 12).dispatch(2);
  cpu.at(1200).record(FTrace_EXT_stack, 2, 2).sleep(2, 0).at(1230).activate(2, 0);
  cpu.at(1300).dispatch(2).at(1400).sleep(2, 0).at(1450 + longer).activate(1, 0).activate(2, 0);
  cpu.dispatch(1).at(1500 + longer).end(1, 11).dispatch(2).at(1600 + longer).stop();
  trace.json(std::move(json)).write();
}

TEST_F(FoldedLines, AreFramesFromTheOutermostInwardWithTheirTime) {
  write_app(one_.path(), 0);
  EXPECT_EQ(lines({{one_.path()}}),
            (Texts{"a:b;a:b;main;operator:;schedule_[k] 350", "a:b;worker;[blocked] 50",
                   "a:b;worker;[waiting for a CPU] 120", "a:b;worker;main 30"}));
}

TEST_F(FoldedLines, SumBlocksWaitsAndTimesWithoutAStack) {
  write_app(one_.path(), 0);
  lines({{one_.path()}});
  EXPECT_EQ(times_->blocked(), 430u);
  EXPECT_EQ(times_->waiting(), 120u);
  EXPECT_EQ(times_->no_stack(), 50u) << "a wait for a CPU needs none";
}

TEST_F(FoldedLines, SumUpEqualNamesOfTwoHosts) {
  write_app(one_.path(), 0);
  std::string other = kStacks;
  other.replace(other.find("main"), 4, "poll");
  write_app(two_.path(), 1000, other);
  EXPECT_EQ(
      lines({{one_.path()}, {two_.path()}}),
      (Texts{"a:b;a:b;main;operator:;schedule_[k] 350", "a:b;a:b;poll;operator:;schedule_[k] 1350",
             "a:b;worker;[blocked] 1100", "a:b;worker;[waiting for a CPU] 240",
             "a:b;worker;main 30", "a:b;worker;poll 30"}));
}

TEST_F(FoldedLines, HaveIdsWhereThreadsAreSeparate) {
  write_app(one_.path(), 0);
  EXPECT_EQ(lines({{one_.path()}}, {.per_thread = true}).at(1),
            "a:b (11);worker (12);[blocked] 50");
}

TEST_F(FoldedLines, AThreadWithoutANameShowsItsTidAndItsCall) {
  TraceBuilder trace(one_.path());
  auto &cpu = trace.cpu(0).at(1000).start();
  cpu.record(FTrace_EVT_id, 1, 11).record_at(0, FTrace_EXT_process, 1, 11).dispatch(1).at(1100);
  constexpr uint16_t kRead = FTRACE_CALL_NATIVE + 0;
  cpu.record(FTrace_EVT_task_sleep | FTRACE_CALL_CODE(kRead), 1,
             FTRACE_OFFCPU_SLEEP << FTRACE_REASON_SHIFT | FTRACE_CALL_PAR2(kRead));
  cpu.at(1300).activate(1, 0).dispatch(1).at(1400).stop();
  trace.json(kStacks).write();
  EXPECT_EQ(lines({{one_.path()}}), (Texts{"[11];[11];[read] 200"}));
}

TEST_F(FoldedLines, UseTheNamesOfThreadsAtThatTime) {
  TraceBuilder trace(one_.path());
  auto &cpu = trace.cpu(0).at(1000).start().id(1, 11, 11, "sh").id(2, 12, 11, "sh").dispatch(1);
  cpu.at(1100).sleep(1, 12).dispatch(2).at(1200).sleep(2, 0).at(1300).activate(1, 0).dispatch(1);
  cpu.at(1310).name(1, "app").at(1350).name(2, "worker").sleep(1, 0).at(1400).activate(1, 0);
  cpu.activate(2, 0).dispatch(2).at(1500).sleep(2, 0).at(1600).stop();
  trace.json(R"({"format": "ovnitrace", "version": 1, "begin_ns": 1000})").write();
  EXPECT_EQ(lines({{one_.path()}}),
            (Texts{"app;app;[blocked] 50", "app;app;[waiting for a CPU] 200",
                   "app;worker;[blocked] 100", "sh;sh;[blocked] 400"}));
}

} // namespace
} // namespace ovnitrace
