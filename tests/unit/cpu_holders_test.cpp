// SPDX-License-Identifier: BSD-2-Clause
// Who had a CPU while threads waited, where not every thread was traced.
#include "emulator/critical/path.h"
#include "emulator/critical/path_text.h"
#include "emulator/open/open_trace.h"
#include "emulator/why/explainer.h"
#include "emulator/why/wait_lines.h"
#include "emulator/why/why_report.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <ovnitrace/control.h>

#include <gtest/gtest.h>

#include <map>

namespace ovnitrace {
namespace {

using test::ChunkBuilder;
using test::TraceBuilder;

using Parts = std::map<std::string, uint64_t>; ///< by name: ns

class CpuHoldersTest : public ::testing::Test {
protected:
  CpuHoldersTest() : trace(dir.path()) { describe(true); }

  void describe(bool cpu_holders) {
    trace.json(std::string(R"({"version": 1, "cpu_holders": )") + (cpu_holders ? "true" : "false") +
               R"(, "peers": [{"tid": 77, "pid": 77, "name": "hog"},
                              {"tid": 88, "pid": 88, "name": "cron"}]})");
  }
  /// Says who has a CPU.
  static ChunkBuilder &holder(ChunkBuilder &chunk, uint16_t cpu, uint32_t tid) {
    return chunk.record(FTrace_EXT_holder, cpu, tid);
  }
  /// For whom the thread of a tid waited.
  Parts holders_of(uint32_t tid) {
    trace.write();
    source = open_trace({{dir.path()}}, sink);
    why = explain(*source, {});
    Parts parts;
    for (const WaitSum &sum : why.waits)
      if (const ThreadInfo &thread = source->catalog().threads[sum.thread]; thread.tid == tid)
        parts[name_of(source->catalog(), sum.holder, thread.host)] += sum.ns;
    return parts;
  }
  std::string text() {
    const TraceInfo info = read_trace_info(dir.path(), sink);
    const Stacks stacks(source->catalog(), sink);
    return why_text({dir.path(), info, source->catalog(), stacks, why});
  }

  test::TempDir dir;
  TraceBuilder trace;
  test::CollectingSink sink;
  std::unique_ptr<EventSource> source;
  Explanation why;
};

TEST_F(CpuHoldersTest, AWaitIsDividedAmongAllThatHadTheCpu) {
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "app").dispatch(1);
  cpu.at(100).epilogue(1, 77);
  holder(cpu.at(140), 0, 88);
  holder(cpu.at(170), 0, 0);
  holder(cpu.at(180), 0, 77);
  cpu.at(200).dispatch(1).at(300).stop();
  EXPECT_EQ(holders_of(11), (Parts{{"hog", 60}, {"cron", 30}, {"idle", 10}}));
  EXPECT_NE(text().find("held by: hog (77), not traced"), std::string::npos) << text();
  EXPECT_EQ(text().find("unknown after the first"), std::string::npos);
}

TEST_F(CpuHoldersTest, SeveralUntracedThreadsOfOneNameAreStillUntraced) {
  trace.json(R"({"version": 1, "cpu_holders": true,
                 "peers": [{"tid": 77, "pid": 77, "name": "hog"},
                           {"tid": 78, "pid": 78, "name": "hog"}]})");
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "app").dispatch(1);
  cpu.at(100).epilogue(1, 77);
  holder(cpu.at(140), 0, 78).at(200).dispatch(1).at(300).stop();
  EXPECT_EQ(holders_of(11), (Parts{{"hog", 100}}));
  EXPECT_NE(text().find("held by: hog (2 threads), not traced  100 ns"), std::string::npos)
      << text();
}

TEST_F(CpuHoldersTest, AWakeupFromAnotherCpuSaysWhoHasTheCpu) {
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "app").dispatch(1).at(100).sleep(1, 0);
  cpu.at(200).dispatch(1).at(300).stop();
  auto &waker = trace.cpu(1).at(0).start().id(1, 11, 11, "app").at(150);
  holder(waker, 0, 77).activate(1, 99).at(300).stop();
  EXPECT_EQ(holders_of(11), (Parts{{"hog", 50}})) << "and not idle, as it was left";
}

TEST_F(CpuHoldersTest, EachOfTwoWaitersHasTheHoldersOfItsOwnWait) {
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "a").id(2, 12, 11, "b").dispatch(1);
  cpu.at(10).sleep(1, 77).at(20);
  holder(cpu, 0, 88).activate(1, 0).at(30);
  cpu.activate(2, 0).at(50);
  holder(cpu, 0, 77).at(70).dispatch(2).at(90).epilogue(2, 11).dispatch(1);
  cpu.at(100).stop();
  EXPECT_EQ(holders_of(11), (Parts{{"cron", 30}, {"hog", 20}, {"b", 20}}));
  EXPECT_EQ(holders_of(12), (Parts{{"cron", 20}, {"hog", 20}, {"a", 10}}));
}

TEST_F(CpuHoldersTest, AThreadThatIsMovedWhileItWaitsHasTheHoldersOfBothCpus) {
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "app").dispatch(1);
  cpu.at(100).epilogue(1, 77).at(300).stop();
  auto &other = trace.cpu(1).at(0).start().id(1, 11, 11, "app").at(150);
  holder(other, 1, 88).migrate(1, 1).at(180).dispatch(1).at(300).stop();
  EXPECT_EQ(holders_of(11), (Parts{{"hog", 50}, {"cron", 30}}));
}

TEST_F(CpuHoldersTest, AThreadOutsideItsRegionCanHoldACpu) {
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "app").id(2, 12, 12, "rival").dispatch(1);
  cpu.at(100).epilogue(1, 12);
  holder(cpu.at(140), 0, 0).at(150);
  holder(cpu, 0, 12).at(200).dispatch(1).at(300).stop();
  EXPECT_EQ(holders_of(11), (Parts{{"rival", 50}, {"idle", 10}, {"not known", 40}}))
      << "it is not seen to take the CPU at first";
}

TEST_F(CpuHoldersTest, AHolderOfAnEarlierRegionIsNotBelieved) {
  constexpr uint32_t kStart = CONTROL_START << FTRACE_REGION_EVENT_SHIFT, kStop = CONTROL_STOP;
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "app");
  cpu.record(FTrace_EXT_region, 1, kStart).dispatch(1).at(100).epilogue(1, 77);
  cpu.at(120).record(FTrace_EXT_region, 1, kStop).at(200).record(FTrace_EXT_region, 1, kStart);
  cpu.snapshot(1, uint32_t(ThreadState::Cooling), 0, FTRACE_OFFCPU_PREEMPTED).at(240);
  holder(cpu, 0, 88).at(260).dispatch(1).at(300).stop();
  EXPECT_EQ(holders_of(11), (Parts{{"hog", 20}, {"not known", 40}, {"cron", 20}}));
}

TEST_F(CpuHoldersTest, ABlackoutHidesWhoHasOtherCpusForWhichNobodyWaits) {
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "app").dispatch(1).at(100).sleep(1, 77);
  cpu.at(170).activate(1, 0).at(200);
  holder(cpu, 0, 88).at(210).dispatch(1).at(300).stop();
  trace.cpu(1).at(120).blackout_start().at(160).blackout_end(3).at(300).stop();
  EXPECT_EQ(holders_of(11), (Parts{{"not known", 30}, {"cron", 10}}));
}

TEST_F(CpuHoldersTest, ABlackoutOfAnyCpuEndsWhatIsKnownOfAWait) {
  for (const uint16_t dark : {0, 1}) {
    trace = TraceBuilder(dir.path());
    describe(true);
    auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "app").dispatch(1).at(100);
    cpu.epilogue(1, 77);
    trace.cpu(dark).at(120).blackout_start().at(150).blackout_end(3);
    holder(cpu.at(160), 0, 88).at(200).dispatch(1).at(300).stop();
    trace.cpu(1).at(300).stop();
    EXPECT_EQ(holders_of(11), (Parts{{"hog", 20}})) << "it may have run on CPU " << dark;
  }
}

TEST_F(CpuHoldersTest, InAnOldTraceOnlyTheFirstHolderIsKnown) {
  describe(false);
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "app").id(2, 22, 22, "rival").dispatch(1);
  cpu.at(100).epilogue(1, 77).at(200).dispatch(1);
  cpu.at(210).epilogue(1, 22).dispatch(2).at(220).sleep(2, 11).dispatch(1).at(300).stop();
  EXPECT_EQ(holders_of(11), (Parts{{"no traced thread", 100}, {"rival", 10}}));
  const std::string told = text();
  EXPECT_LT(told.find("held by: rival (22)"), told.find("held by: unknown after the first"))
      << told;
  EXPECT_EQ(told.find("held by: hog"), std::string::npos);
  EXPECT_NE(told.find("preempted by hog (77), not traced, nobody knows"), std::string::npos)
      << told;
}

TEST_F(CpuHoldersTest, TheCriticalPathNamesEachHolder) {
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "app").dispatch(1);
  cpu.at(100).epilogue(1, 77);
  holder(cpu.at(140), 0, 88).at(200).dispatch(1).at(300).stop();
  trace.write();
  source = open_trace({{dir.path()}}, sink);
  CriticalPath path = critical_path(*source, read_trace_info(dir.path(), sink), {}, {});
  Parts parts;
  path.for_each([&](const PathSegment &segment) {
    if (segment.cause == Cause::waiting)
      parts[holder_text(segment, source->catalog())] += segment.length();
  });
  EXPECT_EQ(parts, (Parts{{"hog (77)", 40}, {"cron (88)", 60}}));
}

} // namespace
} // namespace ovnitrace
