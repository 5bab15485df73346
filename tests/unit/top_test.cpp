// SPDX-License-Identifier: BSD-2-Clause
// What `ovnitrace top` shows of an interval.
#include "emulator/top/top_table.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <gtest/gtest.h>

namespace ovnitrace {
namespace {

using Lines = std::vector<std::string>;

constexpr uint64_t kMs = 1'000'000, kBegin = 5000; // ns

class Top : public ::testing::Test {
protected:
  /// Two processes on two CPUs for 10 ms. `app` runs until 4 ms, is preempted until 6 ms, runs
  /// until 7 ms and blocks. `helper` of the same process waits from 3 ms to 6.5 ms on CPU 1 for
  /// `hog`.
  Top() {
    test::TraceBuilder trace(dir_.path());
    trace.cpu(0).at(kBegin).start().id(1, 10, 10, "app").id(2, 20, 20, "hog");
    trace.cpu(0).dispatch(1).at(at(4)).epilogue(1, 0).at(at(6)).dispatch(1);
    trace.cpu(0).at(at(7)).sleep(1, 0).at(at(10)).stop();
    trace.cpu(1).at(kBegin).start().id(1, 11, 10, "helper").id(2, 20, 20, "hog");
    trace.cpu(1).dispatch(2).at(at(3)).activate(1, 10).at(at(6) + kMs / 2).sleep(2, 11);
    trace.cpu(1).dispatch(1).at(at(10)).stop();
    trace.write();
  }
  static uint64_t at(uint64_t ms) { return kBegin + ms * kMs; }

  TopPart part(uint64_t from_ms, uint64_t to_ms) {
    return read_top_part(dir_.path(), at(from_ms), at(to_ms), sink_);
  }

  test::TempDir dir_;
  test::CollectingSink sink_;
};

TEST_F(Top, SharesAreOfTheInterval) {
  TopPart part = this->part(2, 7);
  EXPECT_EQ(part.length(), 5 * kMs);
  const TopTable table = top_table(part, {.columns = 80});
  EXPECT_EQ(table.head,
            (Lines{"3 threads   used 80 % of 2 CPUs (60, 100)   600 switches/s   events lost: 0",
                   "waited 5.500 ms for a CPU; whether a CPU was idle meanwhile is not known",
                   "THREAD       RUN %  PREEMPT  WOKEN  BLOCK  SW/s       p99       MAX"}));
  EXPECT_EQ(table.lines,
            (Lines{"hog (20)      90.0      0.0    0.0   10.0   200         -         -",
                   "app (10)      60.0     40.0    0.0    0.0   400         -         -",
                   "helper (11)   10.0      0.0   70.0    0.0     0  3.500 ms  "
                   "3.500 ms"}));
  EXPECT_EQ(table.tids, (std::vector<uint32_t>{20, 10, 11}));
}

TEST_F(Top, AWaitThatBeganBeforeTheIntervalCountsWhole) {
  TopPart part = this->part(5, 7);
  EXPECT_EQ(part.sums.summary.threads[1].latency.max(), 3 * kMs + kMs / 2);
}

TEST_F(Top, ProcessesAreSumsOfTheirThreads) {
  TopPart part = this->part(2, 7);
  const TopTable table = top_table(part, {.by = TopBy::process, .columns = 80});
  ASSERT_EQ(table.lines.size(), 2u);
  EXPECT_EQ(table.lines[1].find("app (10)   70.0     40.0   70.0"), 0u) << table.lines[1];
  EXPECT_EQ(table.tids, (std::vector<uint32_t>{0, 0}));
  TopPart again = this->part(2, 7);
  EXPECT_EQ(top_table(again, {.by = TopBy::name, .columns = 80}).lines[0].find("hog (1 thread)"),
            0u);
}

TEST_F(Top, TheFilterKeepsNamesThatContainIt) {
  TopPart part = this->part(2, 7);
  const TopTable table = top_table(part, {.sort = "woken", .filter = "p"});
  ASSERT_EQ(table.tids, (std::vector<uint32_t>{11, 10}));
  EXPECT_EQ(table.head[0].find("2 threads "), 0u);
  EXPECT_TRUE(top_table(part, {.filter = "none"}).lines.empty());
}

TEST_F(Top, AWideTerminalHasTheBlockedCall) {
  TopPart part = this->part(2, 10);
  const TopTable table = top_table(part, {.columns = 110});
  EXPECT_EQ(table.head.back().find("THREAD       BLOCKED IN"), 0u) << table.head.back();
  EXPECT_NE(table.head.back().find("p50"), std::string::npos);
}

TEST_F(Top, AThreadIsExplainedInTheInterval) {
  const TopPart part = this->part(2, 7);
  const std::string text = explain_thread(part, 11, 80);
  EXPECT_NE(text.find("helper (11)"), std::string::npos) << text;
  EXPECT_NE(text.find("hog (20)"), std::string::npos) << "it held the CPU: " << text;
  EXPECT_EQ(text.find("running                   2"), std::string::npos) << "not app's: " << text;
  EXPECT_ANY_THROW(explain_thread(part, 99, 80));
}

/// `app` runs until 1 ms, has no quota until 3 ms, and is preempted until 4 ms. It runs to 5 ms,
/// blocks in read until 7 ms, and runs from 8 to 10 ms. `hog` has the CPU from 1 to 4 ms.
class TopOfOneCpu : public ::testing::Test {
protected:
  TopOfOneCpu() {
    test::TraceBuilder trace(dir_.path());
    trace.json(R"({"version": 1, "machine": "x86_64", "all_threads": true})");
    auto &cpu = trace.cpu(0).at(0).start().id(1, 10, 10, "app").id(2, 20, 20, "hog");
    cpu.dispatch(1).at(kMs).epilogue(1, 20, FTRACE_OFFCPU_THROTTLED).dispatch(2);
    cpu.at(3 * kMs).record(FTrace_EXT_refill, 1).at(4 * kMs).epilogue(2, 10).dispatch(1);
    cpu.at(5 * kMs);
    constexpr uint32_t kRead = FTRACE_CALL_NATIVE; // of x86-64
    cpu.record(uint16_t(FTrace_EVT_task_sleep | FTRACE_CALL_CODE(kRead)), 1,
               FTRACE_CALL_PAR2(kRead) | FTRACE_OFFCPU_SLEEP << FTRACE_REASON_SHIFT);
    cpu.at(7 * kMs).activate(1, 20).at(8 * kMs).dispatch(1).at(10 * kMs).stop();
    trace.write();
  }
  TopTable table(const TopView &view) {
    TopPart part = read_top_part(dir_.path(), 0, 10 * kMs, sink_);
    return top_table(part, view);
  }

  test::TempDir dir_;
  test::CollectingSink sink_;
};

TEST_F(TopOfOneCpu, TimeWithoutQuotaIsNotPreemption) {
  const TopTable top = table({.columns = 109});
  EXPECT_EQ(top.head.at(0), "2 threads   1 CPU 70 % busy   300 switches/s   events lost: 0");
  EXPECT_EQ(top.head.at(1), "waited 10.00 ms for a CPU; whether a CPU was idle meanwhile is not "
                            "known");
  EXPECT_EQ(top.head.back(),
            "THREAD    RUN %  PREEMPT  WOKEN  BLOCK  THROTTLE  SW/s       p99       MAX");
  EXPECT_EQ(top.lines,
            (Lines{"app (10)   40.0     10.0   10.0   20.0      20.0   200  1.000 ms  1.000 ms",
                   "hog (20)   30.0     60.0    0.0    0.0       0.0   100         -         -"}));
}

TEST_F(TopOfOneCpu, From110ColumnsOnThereAreTheMedianAndTheCall) {
  const TopTable top = table({.columns = 110});
  EXPECT_EQ(top.head.back(), "THREAD    BLOCKED IN  RUN %  PREEMPT  WOKEN  BLOCK  THROTTLE  SW/s"
                             "       p50       p99       MAX");
  EXPECT_EQ(top.lines.at(0), "app (10)  read         40.0     10.0   10.0   20.0      20.0   200"
                             "  1.000 ms  1.000 ms  1.000 ms");
}

TEST_F(TopOfOneCpu, GroupsHaveNoCall) {
  EXPECT_EQ(table({.by = TopBy::process, .columns = 110}).head.back().find("PROCESS   RUN %"), 0u);
  const TopTable names = table({.by = TopBy::name, .columns = 110});
  EXPECT_EQ(names.head.back().find("NAME            RUN %"), 0u) << names.head.back();
  EXPECT_EQ(names.lines.at(0).find("app (1 thread)   40.0 "), 0u) << names.lines.at(0);
}

/// A thread waits for 1 us, 2 us, … 100 us after its wakeups, and is blocked in read and in write
/// for the same time.
TEST(TopOfManyWaits, HasTheirPercentilesAndTheFirstOfTheLongestCalls) {
  test::TempDir dir;
  test::CollectingSink sink;
  test::TraceBuilder trace(dir.path());
  trace.json(R"({"version": 1, "machine": "x86_64", "all_threads": true})");
  auto &cpu = trace.cpu(0).at(0).start().id(1, 10, 10, "app").dispatch(1);
  uint64_t time = 0;
  for (uint64_t us = 1; us <= 100; us++) {
    const uint32_t call = FTRACE_CALL_NATIVE + us % 2; // 1: write
    cpu.at(time += 1000)
        .record(uint16_t(FTrace_EVT_task_sleep | FTRACE_CALL_CODE(call)), 1,
                FTRACE_CALL_PAR2(call) | FTRACE_OFFCPU_SLEEP << FTRACE_REASON_SHIFT);
    cpu.at(time += 5000).activate(1);
    cpu.at(time += us * 1000).dispatch(1);
  }
  cpu.at(time).stop();
  trace.write();
  TopPart part = read_top_part(dir.path(), 0, time, sink);
  const std::string line = top_table(part, {.columns = 110}).lines.at(0);
  EXPECT_EQ(line.find("app (10)  read "), 0u) << line;
  EXPECT_NE(line.find("49.66 us  99.33 us  100.0 us"), std::string::npos)
      << line << ": exact to 1/64 of 50 us and 99 us";
}

TEST(TopOfSomeCpus, CpusThatAreNotRecordedDoNotCount) {
  for (const char *filter : {"--cpu 0,2-3", "--no-cpu 1"}) {
    test::TempDir dir;
    test::CollectingSink sink;
    test::TraceBuilder trace(dir.path());
    trace.json(R"({"version": 1, "cpus": 4, "filters": [")" + std::string(filter) + "\"]}");
    trace.cpu(0).at(0).start().id(1, 10, 10, "a").dispatch(1).at(kMs).stop();
    trace.cpu(2)
        .at(0)
        .start()
        .id(1, 12, 12, "b")
        .dispatch(1)
        .at(kMs / 2)
        .sleep(1, 0)
        .at(kMs)
        .stop();
    trace.write();
    TopPart part = read_top_part(dir.path(), 0, kMs, sink);
    EXPECT_NE(
        top_table(part, {.columns = 100}).head.at(0).find("used 50 % of 3 CPUs (100, -, 50, 0)"),
        std::string::npos)
        << top_table(part, {.columns = 100}).head.at(0);
  }
}

TEST_F(TopOfOneCpu, SortsByTheNamesOfItsColumns) {
  const auto first = [&](const char *sort) { return table({.sort = sort}).tids.at(0); };
  EXPECT_EQ(first("preempt"), 20u) << "the time without quota does not count";
  for (const char *sort : {"run", "woken", "block", "throttle", "sw", "p50", "p99", "max"})
    EXPECT_EQ(first(sort), 10u) << sort;
}

TEST(TopOfNothing, APartWithoutAFileHasNoThreads) {
  test::TempDir dir;
  test::CollectingSink sink;
  test::TraceBuilder trace(dir.path());
  trace.json(
      R"({"version": 1, "cpus": 2, "end_ns": 7000000, "host": "box", "filters": ["--comm none"]})");
  trace.write();
  TopPart part = read_top_part(dir.path(), 5 * kMs, 6 * kMs, sink);
  EXPECT_EQ(part.length(), kMs);
  const TopTable table = top_table(part, {.columns = 100});
  EXPECT_EQ(table.head.at(0),
            "0 threads   used 0 % of 2 CPUs (0, 0)   0 switches/s   events lost: 0");
  EXPECT_TRUE(table.lines.empty());
}

TEST(TopOfManyCpus, SharesAreListedForUpToEight) {
  for (const uint16_t cpus : {8, 9}) {
    test::TempDir dir;
    test::CollectingSink sink;
    test::TraceBuilder trace(dir.path());
    trace.json(R"({"version": 1, "all_threads": true})");
    for (uint16_t cpu = 0; cpu < cpus; cpu++)
      trace.cpu(cpu).at(0).start().id(1, 10u + cpu, 10u + cpu, "a").dispatch(1).at(kMs).stop();
    trace.write();
    TopPart part = read_top_part(dir.path(), 0, kMs, sink);
    const std::string head = top_table(part, {.columns = 100}).head.at(0);
    EXPECT_EQ(head.find(cpus == 8 ? "8 threads   8 CPUs 100 % busy (100, 100, 100, 100, 100, 100, "
                                    "100, 100)   0 switches/s"
                                  : "9 threads   9 CPUs 100 % busy   0 switches/s"),
              0u)
        << head;
  }
}

} // namespace
} // namespace ovnitrace
