// SPDX-License-Identifier: BSD-2-Clause
// The lines of `ovnitrace stat` that not every trace has.
#include "emulator/summary/report.h"
#include "emulator/summary/summary.h"

#include <gtest/gtest.h>

namespace ovnitrace {
namespace {

class Totals : public testing::Test {
protected:
  Totals() {
    catalog.hosts = {{.name = "one"}};
    catalog.cpus = {{0, 0}};
    catalog.threads = {{.tid = 11, .pid = 11, .name = "app"},
                       {.tid = 12, .pid = 11, .name = "aide"}};
    summary.to = summary.recorded = 1'000'000;
    summary.shown = {1, 1};
    summary.threads.resize(2);
    summary.cpus.resize(1);
    for (ThreadSummary &thread : summary.threads)
      thread.time[size_t(ThreadState::Running)] = 100'000;
  }
  std::string text(const ReportOptions &options = {}) {
    return totals({path, info, catalog, summary, answer}, options);
  }
  bool has(const std::string &line) { return text().find(line) != std::string::npos; }

  const std::string path = "trace";
  TraceInfo info;
  Catalog catalog;
  Summary summary;
  Answer answer;
};

TEST_F(Totals, OpenWithTheAnswer) {
  answer.sentences = "It ran.";
  EXPECT_EQ(text().find("It ran.\n\n2 threads of 1 process on 1 CPU for 1.000 ms\n"), 0u) << text();
}

TEST_F(Totals, AreWithoutALineOfWhatDidNotHappen) {
  for (const char *line : {"events lost", "wakeup latency", "p99\n", "0 throttled", "--control"})
    EXPECT_FALSE(has(line)) << line;
}

TEST_F(Totals, SayWhereTheNumberOfLostEventsIsNotKnown) {
  summary.lost_more = true;
  EXPECT_TRUE(has("\n       not known  events lost\n")) << text();
  summary.lost = 7;
  EXPECT_TRUE(has("\nnot known, at least 7  events lost\n")) << text();
}

TEST_F(Totals, CountThrottlingWhereThereIsSome) {
  summary.threads[1].throttled = 3;
  EXPECT_TRUE(has("3  switches             0 preempted, 0 yielded, 3 throttled, 0 voluntary\n"))
      << text();
}

TEST_F(Totals, NameTheThreadThatWaitedLongest) {
  summary.threads[0].latency.add(5000);
  summary.threads[1].latency.add(9000);
  EXPECT_TRUE(has("        9.000 us  max                  aide (12)\n")) << text();
  summary.threads[0].latency.add(20'000);
  EXPECT_TRUE(has("        20.00 us  max                  app (11)\n")) << text();
}

TEST_F(Totals, LeaveOutThreadsThatAreNotChosen) {
  summary.shown = {0, 1};
  EXPECT_EQ(text().find("1 thread of 1 process on 1 CPU for"), 0u) << text();
  EXPECT_TRUE(has("        100.0 us  running              10.0 % of the CPUs\n")) << text();
}

} // namespace
} // namespace ovnitrace
