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
  EXPECT_EQ(
      table.head,
      (Lines{"3 threads   2 CPUs 80 % busy (60, 100)   600 switches/s   events lost: 0",
             "waited 5.500 ms for a CPU, 0 of it while a CPU was idle that the thread may use",
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
  const TopTable table = top_table(part, {.sort = "warming", .filter = "p"});
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

} // namespace
} // namespace ovnitrace
