// SPDX-License-Identifier: BSD-2-Clause
// Events that were captured before the start of the trace: they make the states at its start, and
// nothing else.
#include "emulator/dump/dump_line.h"
#include "emulator/open/open_trace.h"
#include "emulator/summary/summarizer.h"
#include "tests/support/convert_directory.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/files.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <gtest/gtest.h>

namespace ovnitrace {
namespace {

using test::CollectingSink;
using test::TempDir;
using test::TraceBuilder;

/// While the snapshot is taken, 10 runs, wakes 11 and 12 on CPU 1, and logs a signal; 12 gets
/// CPU 1. The trace starts at 1000. At 1500 11 gets CPU 1.
class TraceStart : public ::testing::Test {
protected:
  TraceStart() : trace_(dir_.path()) {
    trace_.cpu(0)
        .at(900)
        .id(1, 10, 10, "app")
        .dispatch(1)
        .id(2, 11, 10, "woken")
        .id(3, 12, 10, "runs");
    trace_.cpu(0).sleep(2).sleep(3).at(950).activate(2, 10).activate(3, 10);
    trace_.cpu(0).record(FTrace_EVT_signal, 2, 10 | 9u << FTRACE_SIGNAL_SHIFT);
    trace_.cpu(0).at(1000).start().at(2000).stop();
    trace_.cpu(1).at(980).id(3, 12, 10, "runs").dispatch(3).at(1000).start();
    trace_.cpu(1).at(1500).sleep(3).id(2, 11, 10, "woken").dispatch(2).at(2000).stop();
    trace_.write();
  }
  std::string prv(const char *name) {
    ConvertOptions options;
    options.directory = dir_ / "prv";
    convert_directory(dir_.path(), options, sink_);
    return test::text_of(dir_ / "prv/" + name);
  }

  TempDir dir_;
  TraceBuilder trace_;
  CollectingSink sink_;
};

TEST_F(TraceStart, HasTheStatesToWhichTheyLead) {
  const auto source = open_trace({{dir_.path()}}, sink_);
  const Summary summary = summarize(*source);
  const auto in = [&](size_t thread, ThreadState state) {
    return summary.threads[thread].time[size_t(state)];
  };
  EXPECT_EQ(in(0, ThreadState::Running), 1000u);
  EXPECT_EQ(in(1, ThreadState::Warming), 500u);
  EXPECT_EQ(in(1, ThreadState::Running), 500u);
  EXPECT_EQ(in(2, ThreadState::Running), 500u);
  EXPECT_EQ(summary.cpus[0].busy, 1000u);
  EXPECT_EQ(summary.cpus[1].busy, 1000u);
}

TEST_F(TraceStart, FirstStatesAreNeitherSwitchesNorWakeups) {
  const auto source = open_trace({{dir_.path()}}, sink_);
  const Summary summary = summarize(*source);
  for (const ThreadSummary &thread : summary.threads) {
    EXPECT_EQ(thread.wakeups, 0u);
    EXPECT_EQ(thread.latency.count(), 0u);
  }
  EXPECT_EQ(summary.threads[0].switches(), 0u);
  EXPECT_EQ(summary.threads[1].switches(), 0u);
  EXPECT_EQ(summary.threads[2].switches(), 1u); // at 1500
  EXPECT_EQ(summary.cpus[0].switches, 0u);
  EXPECT_EQ(summary.cpus[1].switches, 1u);
  EXPECT_EQ(summary.events, 13u) << "but they are events of the trace";
}

TEST_F(TraceStart, FirstStatesDrawNoArrowsAndNoPunctualEvents) {
  const std::string threads = prv("thread.prv");
  EXPECT_EQ(threads.find("\n3:"), std::string::npos) << threads;
  EXPECT_EQ(threads.find(":410:"), std::string::npos) << threads;
  // Woken at 950, it is Warming at 0; its latency is the real one.
  EXPECT_NE(threads.find(":1:1:2:0:"), std::string::npos) << threads;
  EXPECT_NE(threads.find(":222:550"), std::string::npos) << threads;
}

TEST_F(TraceStart, TheDumpReportsTheirTimeBeforeIt) {
  const auto source = open_trace({{dir_.path()}}, sink_);
  const DumpLine line(source->catalog());
  char buffer[DumpLine::kMaxBytes];
  Event event;
  ASSERT_TRUE(source->next(event));
  EXPECT_EQ(std::string(buffer, line.put(buffer, event)).substr(0, 16), "    -0.000000100");
  while (event.time < 1500)
    ASSERT_TRUE(source->next(event));
  EXPECT_EQ(std::string(buffer, line.put(buffer, event)).substr(0, 16), "     0.000000500");
}

} // namespace
} // namespace ovnitrace
