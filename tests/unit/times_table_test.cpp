// SPDX-License-Identifier: BSD-2-Clause
// `ovnitrace why`: the tables of times, whole, from times made by hand.
#include "emulator/why/times_table.h"

#include "emulator/why/time_tree.h"
#include "tests/unit/support/collecting_sink.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ovnitrace {
namespace {

class TimesTable : public ::testing::Test {
protected:
  TimesTable() { catalog.hosts = {{"node"}}; }

  void thread(uint32_t tid, uint32_t pid, const std::string &name, const ThreadTime &time) {
    ThreadInfo &thread = catalog.threads.emplace_back();
    thread.tid = tid;
    thread.pid = pid;
    thread.name = name;
    why.threads.push_back(time);
    why.shown.push_back(1);
  }
  void three_threads() {
    thread(11, 11, "app", {.running = 100, .waiting = 300, .latency_share = 60});
    thread(12, 11, "worker", {.running = 400, .waiting = 100, .blocked = 500, .latency_share = 20});
    thread(22, 22, "worker", {.running = 200, .waiting = 200, .unknown = 600, .latency_share = 40});
    why.covered = 1000;
  }
  WhyInput input() const { return {path, info, catalog, stacks, why}; }
  std::string table(const WhyOptions &options = {}) const {
    return "\n" + times_table(input(), options);
  }
  /// The threads in the order of the table.
  std::vector<std::string> order(const std::string &sort) const {
    std::vector<std::string> tids;
    const std::string text = table({.sort = sort});
    for (size_t at = text.find('('); at != std::string::npos; at = text.find('(', at + 1))
      tids.push_back(text.substr(at + 1, 2));
    return tids;
  }

  const std::string path = "trace";
  TraceInfo info;
  Catalog catalog;
  test::CollectingSink sink;
  Stacks stacks{catalog, sink};
  Explanation why;
};

TEST_F(TimesTable, RealTimeThreadsAreThrottledAtMostSoLong) {
  catalog.hosts.resize(1);
  catalog.hosts[0].sees_refills = true;
  catalog.threads.resize(1);
  why.threads.resize(1);
  why.held = {{.thread = 0, .kind = WaitKind::throttling, .ns = 10}};
  const auto text = [&] { return tree_text(time_tree({path, info, catalog, stacks, why}), 9, 90); };
  EXPECT_NE(text().find("\n  throttled: no CPU quota was left "), std::string::npos) << text();
  why.priorities.throttled_real_time = 1;
  EXPECT_NE(text().find("\n  throttled, at most: no CPU quota was left "), std::string::npos)
      << text();
}

TEST_F(TimesTable, HasALineForEachThread) {
  three_threads();
  EXPECT_EQ(table(), R"(
THREAD       RUNNING       %  WAITING       %  BLOCKED       %  NOT KNOWN
app (11)      100 ns  25.0 %   300 ns  75.0 %        0   0.0 %          0
worker (22)   200 ns  20.0 %   200 ns  20.0 %        0   0.0 %     600 ns
worker (12)   400 ns  40.0 %   100 ns  10.0 %   500 ns  50.0 %          0
)");
}

TEST_F(TimesTable, SumsUpProcessesAndNames) {
  three_threads();
  EXPECT_EQ(table({.by = WhyBy::process}), R"(
PROCESS      THREADS  RUNNING       %  WAITING       %  BLOCKED       %  NOT KNOWN
app (11)           2   500 ns  35.7 %   400 ns  28.6 %   500 ns  35.7 %          0
worker (22)        1   200 ns  20.0 %   200 ns  20.0 %        0   0.0 %     600 ns
)");
  EXPECT_EQ(table({.by = WhyBy::name}), R"(
NAME    THREADS  RUNNING       %  WAITING       %  BLOCKED       %  NOT KNOWN
app           1   100 ns  25.0 %   300 ns  75.0 %        0   0.0 %          0
worker        2   600 ns  30.0 %   300 ns  15.0 %   500 ns  25.0 %     600 ns
)");
}

TEST_F(TimesTable, OmitsThreadsThatAreNotShown) {
  three_threads();
  why.shown[1] = 0;
  EXPECT_EQ(order("running"), (std::vector<std::string>{"22", "11"}));
}

TEST_F(TimesTable, IsSortedByEachOfItsTimes) {
  three_threads();
  using Tids = std::vector<std::string>;
  EXPECT_EQ(why_sort_words(),
            (Tids{"waiting", "running", "blocked", "unknown", "life", "latency"}));
  EXPECT_EQ(order("waiting"), (Tids{"11", "22", "12"}));
  EXPECT_EQ(order("running"), (Tids{"12", "22", "11"}));
  EXPECT_EQ(order("blocked"), (Tids{"12", "11", "22"}));
  EXPECT_EQ(order("unknown"), (Tids{"22", "11", "12"}));
  EXPECT_EQ(order("life"), (Tids{"12", "22", "11"}));
  EXPECT_EQ(order("latency"), (Tids{"11", "22", "12"}));
}

TEST_F(TimesTable, HasAColumnForTheLatencyThatItIsSortedBy) {
  three_threads();
  EXPECT_EQ(table({.sort = "latency"}), R"(
             LATENCY
THREAD         SHARE      %  RUNNING       %  WAITING       %  BLOCKED       %  NOT KNOWN
app (11)       60 ns  6.0 %   100 ns  25.0 %   300 ns  75.0 %        0   0.0 %          0
worker (22)    40 ns  4.0 %   200 ns  20.0 %   200 ns  20.0 %        0   0.0 %     600 ns
worker (12)    20 ns  2.0 %   400 ns  40.0 %   100 ns  10.0 %   500 ns  50.0 %          0
)");
}

TEST_F(TimesTable, SumsUpTheRestIfThatSavesLines) {
  three_threads();
  EXPECT_EQ(table({.top = 2}), table()) << "one line for one thread saves nothing";
  EXPECT_EQ(table({.top = 0}), table());
  EXPECT_EQ(table({.top = 1}), R"(
THREAD    RUNNING       %  WAITING       %  BLOCKED       %  NOT KNOWN
app (11)   100 ns  25.0 %   300 ns  75.0 %        0   0.0 %          0
2 others   600 ns  30.0 %   300 ns  15.0 %   500 ns  25.0 %     600 ns
)");
  thread(33, 33, "", {.running = 7});
  EXPECT_EQ(table({.top = 1, .by = WhyBy::name}), R"(
NAME      THREADS  RUNNING       %  WAITING       %  BLOCKED       %  NOT KNOWN
app             1   100 ns  25.0 %   300 ns  75.0 %        0   0.0 %          0
2 others        3   607 ns  30.2 %   300 ns  14.9 %   500 ns  24.9 %     600 ns
)");
}

TEST_F(TimesTable, Shows10LinesAndOneMore) {
  for (uint32_t n = 0; n < 11; n++)
    thread(40 + n, 40 + n, "a", {.running = 5});
  EXPECT_EQ(table().find("others"), std::string::npos);
  thread(60, 60, "a", {.running = 5});
  EXPECT_NE(table().find("2 others"), std::string::npos) << table();
}

TEST_F(TimesTable, TheTreeHasEachTimeWithItsParts) {
  three_threads();
  catalog.hosts[0].peers = {{.tid = 77, .pid = 77, .name = "hog"}};
  const auto held = [&](uint32_t thread, WaitKind kind, Culprit holder, uint64_t ns) {
    why.held.push_back({.thread = thread, .kind = kind, .holder = holder, .ns = ns});
  };
  held(0, WaitKind::wakeup, Culprit(Culprit::Kind::thread, 1), 100);
  held(0, WaitKind::wakeup, Culprit(Culprit::Kind::thread, 2), 60);
  held(0, WaitKind::wakeup, Culprit(Culprit::Kind::untraced, 77), 40);
  held(0, WaitKind::wakeup, Culprit(), 110);
  held(0, WaitKind::preemption, Culprit(Culprit::Kind::idle), 90);
  held(0, WaitKind::throttling, Culprit(Culprit::Kind::untraced, 77), 200);
  for (const uint64_t ns : {10, 20, 280})
    why.wait_lengths[size_t(WaitKind::wakeup)].add(ns);
  why.wait_lengths[size_t(WaitKind::preemption)].add(90);
  for (size_t n = 0; n < kUnknownWhys; n++)
    why.unknown[n] = 50 + 10 * n;
  const TimeNode tree = time_tree(input());
  EXPECT_EQ("\n" + tree_text(tree, 10, 100), R"(
WHERE THE TIME WENT                            TIME       %  TIMES
running                                      700 ns  37.6 %
waiting for a CPU                            600 ns  32.3 %
  after a wakeup                             310 ns  16.7 %      3
    held by: worker (2 threads)              160 ns   8.6 %
    held by: hog (77), not traced             40 ns   2.2 %
    held by: not known                       110 ns   5.9 %
  throttled, at most: no CPU quota was left  200 ns  10.8 %
  after a preemption                          90 ns   4.8 %      1
    held by: idle                             90 ns   4.8 %
blocked                                           0   0.0 %
not known                                    560 ns  30.1 %
  another reason                             110 ns   5.9 %
  after the end of its trace                 100 ns   5.4 %
  since a pause of the capture                90 ns   4.8 %
  records are missing in the files            80 ns   4.3 %
  older than what the flight recorder keeps   70 ns   3.8 %
  events were lost                            60 ns   3.2 %
  before its first event                      50 ns   2.7 %
)");
  EXPECT_EQ("\n" + tree_text(tree, 1, 100), R"(
WHERE THE TIME WENT                  TIME       %  TIMES
running                            700 ns  37.6 %
waiting for a CPU                  600 ns  32.3 %
  after a wakeup                   310 ns  16.7 %      3
    held by: worker (2 threads)    160 ns   8.6 %
    held by: hog (77), not traced   40 ns   2.2 %
    held by: not known             110 ns   5.9 %
  2 others                         290 ns  15.6 %      1
blocked                                 0   0.0 %
not known                          560 ns  30.1 %
  another reason                   110 ns   5.9 %
  6 others                         450 ns  24.2 %
)");
  EXPECT_EQ("\n" + lengths_text(tree, 10, 100), R"(
HOW LONG EACH TIME WAS    p50     p90     p99     MAX
after a wakeup          20 ns  280 ns  280 ns  280 ns
after a preemption      90 ns   90 ns   90 ns   90 ns
)");
  EXPECT_EQ("\n" + lengths_text(tree, 1, 100), R"(
HOW LONG EACH TIME WAS    p50     p90     p99     MAX
after a wakeup          20 ns  280 ns  280 ns  280 ns
)");
  EXPECT_EQ(lengths_text(tree, 0, 100), "");
}

TEST_F(TimesTable, ThreadsAndProcessesWithoutANameHaveTheirNumber) {
  three_threads();
  thread(33, 33, "", {.running = 7});
  EXPECT_NE(table({.by = WhyBy::process}).find("\nprocess 33         1     7 ns  100.0 %"),
            std::string::npos)
      << table({.by = WhyBy::process});
  EXPECT_NE(table({.by = WhyBy::name}).find("\nwithout a name "), std::string::npos);
  EXPECT_NE(table().find("\nthread 33 "), std::string::npos);
}

TEST_F(TimesTable, APidOfTwoHostsIsTwoProcesses) {
  catalog.hosts.push_back({"other"});
  thread(11, 11, "app", {.running = 1});
  thread(12, 11, "worker", {.running = 2});
  thread(11, 11, "app", {.running = 4});
  catalog.threads[2].host = 1;
  const std::string text = table({.by = WhyBy::process});
  EXPECT_NE(text.find("\napp (11)        2     3 ns "), std::string::npos) << text;
  EXPECT_NE(text.find("\napp (11)        1     4 ns "), std::string::npos) << text;
}

} // namespace
} // namespace ovnitrace
