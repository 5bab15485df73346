// SPDX-License-Identifier: BSD-2-Clause
// Several traces as one timeline: nothing is known of a trace before its first event and after its
// last.
#include "emulator/core/replay.h"
#include "emulator/dump/dump_line.h"
#include "emulator/open/open_trace.h"
#include "emulator/summary/summarizer.h"
#include "emulator/why/explainer.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ovnitrace {
namespace {

using test::CollectingSink;
using test::TempDir;
using test::TraceBuilder;

/// The first trace is from 100 to 300: thread 7 runs on CPU 0, thread 8 sleeps on CPU 1 from 250
/// on. The second one is from 600 to 1000: thread 7 runs on CPU 0 from 640, after a snapshot at 590
/// says that it slept.
class Outside : public ::testing::Test {
protected:
  Outside() : first_(first_dir_.path()), second_(second_dir_.path()) {
    first_.cpu(0).at(100).start().id(1, 7, 7, "app").dispatch(1).at(300).stop();
    first_.cpu(1).at(100).start().id(1, 8, 8, "other").dispatch(1).at(250).sleep(1).at(300).stop();
    second_.cpu(0).at(590).id(1, 7, 7, "app").snapshot(1, uint32_t(ThreadState::Paused), 0);
    second_.cpu(0).at(600).start().at(640).dispatch(1).at(1000).stop();
    second_.cpu(1).at(601).start().at(1000).stop();
  }
  std::unique_ptr<EventSource> open() {
    first_.write();
    second_.write();
    return open_trace({{first_dir_.path()}, {second_dir_.path()}}, sink_);
  }
  Summary summary() { return summarize(*open()); }
  /// "start 0 300": CPU and time of each blackout of this kind, in order.
  std::vector<std::string> blackouts() {
    const auto source = open();
    std::vector<std::string> found;
    for (Event event; source->next(event);) {
      const bool starts = event.kind == FTrace_EVT_blackout_start;
      if ((starts || event.kind == FTrace_EVT_blackout_end) &&
          event.par1 == FTRACE_BLACKOUT_OUTSIDE)
        found.push_back((starts ? "start " : "end ") + std::to_string(event.cpu) + " " +
                        std::to_string(event.time));
    }
    return found;
  }
  static std::vector<uint64_t> times(const ThreadSummary &thread) {
    const auto of = [&](ThreadState state) { return thread.time[size_t(state)]; };
    return {of(ThreadState::Unknown), of(ThreadState::Running), of(ThreadState::Paused)};
  }

  TempDir first_dir_, second_dir_;
  TraceBuilder first_, second_;
  CollectingSink sink_;
};

using Times = std::vector<uint64_t>;

TEST_F(Outside, IsABlackoutOfEachCpu) {
  EXPECT_EQ(blackouts(), (std::vector<std::string>{"start 2 100", "start 3 100", "start 0 300",
                                                   "start 1 300", "end 2 589", "end 3 589"}));
  EXPECT_EQ(sink_.damage(), 0u);
}

TEST_F(Outside, NothingIsKnown) {
  const Summary summary = this->summary();
  EXPECT_EQ(summary.to, 1000u);
  ASSERT_EQ(summary.threads.size(), 3u);
  EXPECT_EQ(times(summary.threads[0]), (Times{700, 200, 0}));
  EXPECT_EQ(times(summary.threads[1]), (Times{700, 150, 50}));
  EXPECT_EQ(times(summary.threads[2]), (Times{490, 360, 50})) << "the snapshot counts";
  for (const auto &[cpu, unknown] : {std::pair(0, 700), {1, 700}, {2, 489}, {3, 489}})
    EXPECT_EQ(summary.cpus[size_t(cpu)].unknown, uint64_t(unknown)) << cpu;
  EXPECT_EQ(summary.cpus[0].busy, 200u);
  EXPECT_EQ(summary.cpus[2].busy, 360u);
}

TEST_F(Outside, NoEventIsLost) {
  const Summary summary = this->summary();
  EXPECT_EQ(summary.lost, 0u);
  EXPECT_FALSE(summary.lost_more);
  EXPECT_EQ(summary.events, 3u + 4 + 4 + 2) << "those of the files";
}

TEST_F(Outside, TracesThatBeginAndEndTogetherHaveNone) {
  first_.cpu(0).at(590).id(1, 7, 7, "app").snapshot(1, uint32_t(ThreadState::Paused), 0);
  TempDir same_dir;
  TraceBuilder same(same_dir.path());
  same.cpu(0).at(590).id(1, 9, 9, "app").snapshot(1, uint32_t(ThreadState::Paused), 0);
  same.cpu(0).at(600).start().at(1000).stop();
  same.write();
  second_.write();
  const auto source = open_trace({{second_dir_.path()}, {same_dir.path()}}, sink_);
  for (Event event; source->next(event);)
    EXPECT_NE(event.kind, FTrace_EVT_blackout_start) << event.time;
}

/// A tracer that was killed writes no end: what it would have written is missing from there on.
TEST_F(Outside, AFileWithoutItsEndMissesItsRest) {
  TempDir killed_dir;
  TraceBuilder killed(killed_dir.path());
  killed.cpu(0).at(100).start().id(1, 7, 7, "app").dispatch(1).at(200).sleep(1);
  killed.write();
  second_.write();
  const auto source = open_trace({{killed_dir.path()}, {second_dir_.path()}}, sink_);
  const Summary summary = summarize(*source);
  EXPECT_EQ(times(summary.threads[0]), (Times{800, 100, 0}));
  EXPECT_TRUE(summary.lost_more);
}

/// Only what its end misses is missing: after its end, there was nothing to record.
TEST_F(Outside, WhatCouldNotBeWrittenIsMissingUntilTheEndOfItsTrace) {
  TempDir full_dir;
  TraceBuilder full(full_dir.path());
  full.cpu(0).at(100).start().id(1, 7, 7, "app").dispatch(1);
  full.json(R"({"format": "ovnitrace", "version": 1, "cpus": 1, "begin_ns": 100, "end_ns": 300,)"
            R"( "not_written": [{"cpu": 0, "records": 5, "events": 3}]})");
  full.write();
  second_.write();
  const auto source = open_trace({{full_dir.path()}, {second_dir_.path()}}, sink_);
  uint64_t last = 0;
  std::vector<std::pair<uint32_t, uint64_t>> blackouts; // what, time
  for (Event event; source->next(event); last = event.time) {
    EXPECT_GE(event.time, last);
    if (event.cpu == 0 &&
        (event.kind == FTrace_EVT_blackout_start || event.kind == FTrace_EVT_blackout_end))
      blackouts.emplace_back(event.par1, event.time);
  }
  ASSERT_GE(blackouts.size(), 2u);
  EXPECT_EQ(blackouts.back(), (std::pair<uint32_t, uint64_t>(FTRACE_BLACKOUT_OUTSIDE, 300)));
}

TEST_F(Outside, AnEventAfterTheEndOfItsTraceGetsTheTimeBefore) {
  first_.cpu(0).at(700).end(1, 0); // a damaged time: the last record says 290
  first_.cpu(0).at(290).stop();
  first_.json(R"({"format": "ovnitrace", "version": 1, "cpus": 2, "end_ns": 300})");
  const auto source = open();
  uint64_t last = 0;
  for (Event event; source->next(event); last = event.time)
    EXPECT_GE(event.time, last) << event.kind;
}

/// The trace of a flight recorder that has forgotten its start, or a part of --rotate.
TEST_F(Outside, ATraceWithoutItsStartBeginsWithItsFirstEvent) {
  TempDir part_dir;
  TraceBuilder part(part_dir.path());
  part.cpu(0).at(150).id(1, 7, 7, "app").dispatch(1).at(300).stop();
  part.write();
  second_.write();
  const auto source = open_trace({{part_dir.path()}, {second_dir_.path()}}, sink_);
  EXPECT_EQ(source->catalog().begin, 150u);
  const Summary summary = summarize(*source);
  EXPECT_EQ(times(summary.threads[0]), (Times{700, 150, 0}));
}

TEST_F(Outside, ATraceWithoutEventsDoesNotSayWhenItWas) {
  TempDir empty_dir;
  TraceBuilder empty(empty_dir.path());
  empty.cpu(0); // only the header of a chunk
  empty.write();
  second_.write();
  const auto source = open_trace({{empty_dir.path()}, {second_dir_.path()}}, sink_);
  for (Event event; source->next(event);)
    EXPECT_NE(event.par1, FTRACE_BLACKOUT_OUTSIDE) << event.time;
}

TEST_F(Outside, ACutBetweenTheTracesKnowsNothing) {
  first_.write();
  second_.write();
  Cut cut;
  cut.from = 150; // at 250
  cut.to = 300;
  const auto source = open_trace({{first_dir_.path()}, {second_dir_.path()}}, sink_, cut.from);
  const Summary summary = summarize(*source, cut);
  EXPECT_EQ(times(summary.threads[0]), (Times{100, 50, 0}));
  EXPECT_EQ(times(summary.threads[1]), (Times{100, 0, 50}));
  EXPECT_EQ(times(summary.threads[2]), (Times{150, 0, 0}));
  EXPECT_EQ(summary.cpus[0].unknown, 100u);
}

TEST_F(Outside, WhySaysSo) {
  const auto source = open();
  const Explanation why = explain(*source, {});
  EXPECT_EQ(why.unknown[size_t(UnknownWhy::outside)], 700u + 700);
  EXPECT_EQ(why.unknown[size_t(UnknownWhy::not_seen_yet)], 490u);
}

} // namespace
} // namespace ovnitrace
