// SPDX-License-Identifier: BSD-2-Clause
// The regions of --control as `info` lists them.
#include "emulator/format/thread_state.h"
#include "emulator/open/open_trace.h"
#include "emulator/summary/report.h"
#include "emulator/summary/summarizer.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <gtest/gtest.h>
#include <ovnitrace/control.h>

namespace ovnitrace {
namespace {

/// Parameter 2 of an alarm of chain `chain` (from 1).
uint32_t alarm(uint32_t event, uint32_t type, uint32_t chain, bool of_thread) {
  return event << FTRACE_REGION_EVENT_SHIFT | type << FTRACE_REGION_TYPE_SHIFT |
         chain << FTRACE_REGION_CHAIN_SHIFT | (of_thread ? FTRACE_REGION_THREAD : 0);
}

class RegionTimes : public testing::Test {
protected:
  RegionTimes() : trace(dir.path()) {}

  /// Threads 11 and 12 of a process. A region from 1000 to 1500, in which 11 runs, and 12 waits
  /// from 1100 on; after 2000 one that is not stopped.
  Summary summary(bool of_thread) {
    const uint32_t start = alarm(CONTROL_START, CONTROL_ENTER_FUNC, 2, of_thread);
    const uint32_t stop = alarm(CONTROL_STOP, CONTROL_INT3, 2, of_thread);
    auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "one").id(2, 12, 11, "two");
    cpu.at(1000).record(FTrace_EXT_region, 1, start).snapshot(1, uint32_t(ThreadState::Running), 0);
    cpu.snapshot(2, uint32_t(ThreadState::Paused), 0).at(1100).activate(2, 11);
    cpu.at(1500).record(FTrace_EXT_region, 1, stop).at(2000).record(FTrace_EXT_region, 1, start);
    cpu.at(2600).stop();
    trace.write();
    return summarize(*open_trace({{dir.path()}}, sink));
  }

  test::TempDir dir;
  test::TraceBuilder trace;
  test::CollectingSink sink;
};

TEST_F(RegionTimes, SumAllThreadsOfAProcess) {
  const Summary found = summary(false);
  ASSERT_EQ(found.regions.size(), 2u);
  const RegionSummary &region = found.regions[0];
  EXPECT_EQ(region.start, 1000u);
  EXPECT_EQ(region.stop, 1500u);
  EXPECT_EQ(region.chain, 2u);
  EXPECT_EQ(region.started_by, CONTROL_ENTER_FUNC);
  EXPECT_EQ(region.stopped_by, CONTROL_INT3);
  EXPECT_FALSE(region.of_thread);
  EXPECT_EQ(region.running, 500u);
  EXPECT_EQ(region.waiting, 400u);
  EXPECT_EQ(found.regions[1].start, 2000u);
  EXPECT_EQ(found.regions[1].stop, 0u) << "it was not stopped";
}

TEST_F(RegionTimes, TableHasTheAlarmThatStoppedARegion) {
  const Summary found = summary(false);
  const auto source = open_trace({{dir.path()}}, sink);
  const std::string text = text_report({dir.path(), {}, source->catalog(), found}, {});
  for (const char *line :
       {"\n2       2      enter_func  one (11)  -           2.000 us  600 ns        0        0\n",
        "\n1       2      enter_func  one (11)  int3        1.000 us  500 ns   500 ns   400 ns\n"})
    EXPECT_NE(text.find(line), text.npos) << text;
}

TEST_F(RegionTimes, OrOfAThreadAlone) {
  const RegionSummary region = summary(true).regions.at(0);
  EXPECT_TRUE(region.of_thread);
  EXPECT_EQ(region.running, 500u);
  EXPECT_EQ(region.waiting, 0u) << "the wait of the other thread does not count";
}

TEST_F(RegionTimes, HaveTheMarksOfTheirStart) {
  const uint32_t start = alarm(CONTROL_START, CONTROL_INTERACTIVE, 1, false) | FTRACE_REGION_BCAST;
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "one").id(2, 12, 11, "two");
  cpu.at(1000).record(FTrace_EXT_region, 1, start);
  cpu.at(1100).record(FTrace_EXT_region, 2, start | FTRACE_REGION_AGAIN);
  cpu.at(1200).record(FTrace_EXT_region, 1, start | FTRACE_REGION_AGAIN);
  cpu.at(1300).record(FTrace_EXT_region, 1, alarm(CONTROL_STOP, CONTROL_INT3, 1, false)).stop();
  trace.write();
  const Summary found = summarize(*open_trace({{dir.path()}}, sink));
  ASSERT_EQ(found.regions.size(), 1u) << "a start of an open region begins none";
  EXPECT_EQ(found.regions[0].repeated_starts, 2u);
  EXPECT_TRUE(found.regions[0].bcast);
  EXPECT_EQ(found.regions[0].start, 1000u);
  EXPECT_EQ(found.regions[0].stop, 1300u);
}

TEST_F(RegionTimes, RegionOfAThreadSaysWhichThreadFired) {
  const uint32_t start = alarm(CONTROL_START, CONTROL_INT3, 1, true) | FTRACE_REGION_BCAST;
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "one").id(2, 12, 11, "two");
  cpu.at(1000).record(FTrace_EXT_region, 1, start);
  cpu.at(1001).record(FTrace_EXT_region, 2, start | FTRACE_REGION_OTHER).at(2000).stop();
  trace.write();
  const Summary found = summarize(*open_trace({{dir.path()}}, sink));
  ASSERT_EQ(found.regions.size(), 2u);
  EXPECT_FALSE(found.regions[0].by_other);
  EXPECT_TRUE(found.regions[1].by_other);
}

} // namespace
} // namespace ovnitrace
