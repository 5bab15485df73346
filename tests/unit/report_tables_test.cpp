// SPDX-License-Identifier: BSD-2-Clause
// The tables of `ovnitrace info` that only some traces have.
#include "emulator/summary/report.h"

#include <gtest/gtest.h>
#include <ovnitrace/control.h>

#include <string>

namespace ovnitrace {
namespace {

constexpr uint64_t kMs = 1'000'000;

/// Three threads, the first two of one name. CPU 0 is of the first host, 0 and 3 of the second.
class ReportTables : public testing::Test {
protected:
  ReportTables() {
    catalog.hosts = {{.name = "one"}, {.name = "two"}};
    catalog.begin = 100 * kMs;
    catalog.end = 150 * kMs;
    catalog.cpus = {{.index = 0, .host = 0}, {.index = 0, .host = 1}, {.index = 3, .host = 1}};
    catalog.threads = {{.tid = 11, .pid = 11, .name = "app"},
                       {.tid = 12, .pid = 11, .name = "io"},
                       {.tid = 13, .pid = 0, .host = 1, .name = "io"}};
    summary.from = catalog.begin;
    summary.to = catalog.end;
    summary.recorded = 50 * kMs;
    summary.shown = {1, 1, 1};
    summary.threads.resize(3);
    summary.cpus.resize(3);
    for (uint32_t t = 0; t < 3; t++)
      summary.threads[t].time[size_t(ThreadState::Running)] = (t + 1) * kMs;
  }
  std::string all(const ReportOptions &options = {}) {
    return tables({path, info, catalog, summary}, options);
  }
  /// Returns the table whose first head is `head`; empty if it does not exist.
  std::string table(const std::string &head, const ReportOptions &options = {}) {
    const std::string text = all(options);
    size_t at = text.find("\n" + head + " ");
    if (at == text.npos)
      return "";
    at++;
    const size_t end = text.find("\n\n", at);
    return text.substr(at, end == text.npos ? end : end + 1 - at);
  }

  const std::string path = "trace";
  TraceInfo info;
  Catalog catalog;
  Summary summary;
};

TEST_F(ReportTables, ThreadsOfOneNameAreSummedUpIfSomeShareOne) {
  EXPECT_EQ(table("NAME"),
            "NAME  THREADS   RUNNING        %  (COOLING)  (WARMING)  (PAUSED)  UNKNOWN\n"
            "io          2  5.000 ms  100.0 %          0          0         0        0\n"
            "app         1  1.000 ms  100.0 %          0          0         0        0\n");
  catalog.threads[1].name = "worker";
  EXPECT_EQ(table("NAME"), "") << "each has a name of its own";
  for (ThreadInfo &thread : catalog.threads)
    thread.name = "same";
  EXPECT_EQ(table("NAME"), "") << "all are one";
}

TEST_F(ReportTables, AThreadWithoutAProcessHasNoPid) {
  EXPECT_EQ(table("THREAD").find(
                "THREAD    PID   RUNNING        %  (COOLING)  (WARMING)  (PAUSED)  UNKNOWN\n"
                "io (13)     -  3.000 ms  100.0 % "),
            0u)
      << table("THREAD");
}

TEST_F(ReportTables, CgroupsAreListedIfThereAreSeveral) {
  EXPECT_EQ(table("CGROUP"), "");
  catalog.hosts[0].cgroups.resize(2);
  catalog.hosts[0].cgroups[0].path = "/a";
  catalog.hosts[0].cgroups[1].path = "/" + std::string(40, 'x');
  catalog.threads[0].cgroups = {{0, 1}, {catalog.end, 0}};
  catalog.threads[1].cgroups = {{0, 1}};
  const std::string names = table("CGROUP", {.columns = 200});
  EXPECT_NE(names.find("\nnot known                               1  3.000 ms"), names.npos)
      << names;
  EXPECT_NE(names.find("\n/xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…        1  2.000 ms"), names.npos)
      << names;
  EXPECT_NE(names.find("\n/a                                      1  1.000 ms"), names.npos)
      << "that of the end";
}

TEST_F(ReportTables, CpusOfSeveralHostsHaveTheNameOfTheirHost) {
  summary.cpus[1] = {.busy = 5 * kMs, .switches = 7, .unknown = kMs};
  summary.cpus[2] = {.lost = 3, .lost_more = true};
  EXPECT_EQ(
      table("CPU"),
      "CPU        BUSY WITH THEM       %   UNKNOWN      %  SWITCHES                   LOST\n"
      "one CPU 0               0   0.0 %         0  0.0 %         0                      0\n"
      "two CPU 0        5.000 ms  10.0 %  1.000 ms  2.0 %         7                      0\n"
      "two CPU 3               0   0.0 %         0  0.0 %         0  not known, at least 3\n");
}

TEST_F(ReportTables, ACpuThatIsNotRecordedHasNoNumbers) {
  info.filters = {"--cpu 0"};
  EXPECT_NE(
      table("CPU").find("\ntwo CPU 3               -      -        -      -         -     -\n"),
      std::string::npos)
      << table("CPU");
}

TEST_F(ReportTables, WithoutThreadsCpusAreListedIfSomethingHappenedThere) {
  catalog.threads.clear();
  summary.threads.clear();
  summary.shown.clear();
  EXPECT_EQ(all(), "");
  const auto lists = [&](const CpuSummary &cpu) {
    summary.cpus[1] = cpu;
    return !table("CPU").empty();
  };
  EXPECT_TRUE(lists({.busy = 1}));
  EXPECT_TRUE(lists({.unknown = 1}));
  EXPECT_TRUE(lists({.lost = 1}));
  EXPECT_TRUE(lists({.lost_more = true}));
  EXPECT_TRUE(lists({.interrupts = 1}));
  EXPECT_TRUE(lists({.stolen_known = true}));
  EXPECT_FALSE(lists({.switches = 1}));
}

TEST_F(ReportTables, PairsBeyondTheTopAreSummedUp) {
  summary.wakeups = {{.thread = 0, .peer = 1, .tid = 12, .count = 1000},
                     {.thread = 1, .peer = kNone, .tid = kNone, .count = 200},
                     {.thread = 2, .peer = kNone, .tid = 77, .count = 30, .name = 0},
                     {.thread = 1, .peer = kNone, .tid = 0, .count = 4}};
  catalog.hosts[1].peers = {{.tid = 77, .pid = 77, .name = "hog"}};
  const auto woken = [&](size_t top) {
    const std::string text = all({.top = top});
    const std::string title = "as for a timer or a packet:\n";
    const size_t at = text.find(title) + title.size();
    return text.substr(at, text.find("\n\n", at) + 1 - at);
  };
  EXPECT_EQ(woken(0), "THREAD    WOKEN BY       TIMES\n"
                      "app (11)  io (12)        1,000\n"
                      "io (12)   AN INTERRUPT     200\n"
                      "io (13)   hog (77)          30\n"
                      "io (12)   the idle task      4\n");
  EXPECT_EQ(woken(4), woken(0));
  EXPECT_EQ(woken(2), "THREAD    WOKEN BY      TIMES\n"
                      "app (11)  io (12)       1,000\n"
                      "io (12)   AN INTERRUPT    200\n"
                      "2 others                   34\n");
}

TEST_F(ReportTables, IdleCpusAreReportedWhereItIsKnown) {
  EXPECT_EQ(all().find("A CPU was idle"), std::string::npos);
  summary.threads[0].idle_known = 4 * kMs;
  summary.threads[1].idle_known = 6 * kMs;
  summary.threads[1].idle = {{kMs, 2 * kMs, 0}};
  const std::string text = all();
  EXPECT_NE(
      text.find(
          "\nA CPU was idle for 3.000 ms of 10.00 ms of waiting for which it is known (30.0 %):\n"
          "  1.000 ms  wakeup in flight: its own CPU was idle, and had not yet taken "
          "the thread\n"
          "  2.000 ms  scheduler: another CPU was idle that the thread may use\n"),
      text.npos)
      << text;
}

TEST_F(ReportTables, WaitsAndDeadlinesBeyondTheTopAreSummedUp) {
  for (uint32_t t = 0; t < 3; t++) {
    ThreadSummary &of = summary.threads[t];
    of.mutex_waits = {.count = t + 1, .time = (3 - t) * kMs, .max = kMs, .max_at = catalog.end};
    of.waits_given_up = 10 * (t + 1);
    of.budgets = t + 4;
    of.budgets_used_up = t + 1;
    of.late = {.count = 1 + t % 2, .time = kMs, .max = (t + 1) * kMs, .max_at = catalog.end - t};
  }
  const std::string text = all({.top = 1});
  const auto behind = [&](const std::string &title) {
    const size_t at = text.find(title) + title.size();
    return text.substr(at, text.find("\n\n", at) + 1 - at);
  };
  EXPECT_EQ(behind("other futexes:\n"),
            "THREAD    WAITS      TIME       MAX           AT  GAVE UP\n"
            "app (11)      1  3.000 ms  1.000 ms  0.050000000       10\n"
            "2 others      5  3.000 ms  1.000 ms  0.050000000       50\n");
  EXPECT_EQ(behind("a missed deadline:\n"),
            "THREAD    BUDGETS  USED UP  MISSED  LATE, MAX           AT\n"
            "io (12)         5        2       2   2.000 ms  0.049999999\n"
            "2 others       10        4       2   3.000 ms  0.049999998\n");
}

TEST_F(ReportTables, AChainWithAShortNameIsNamed) {
  catalog.hosts[0].chains = {"sixteen letters!", "seventeen letters"};
  for (const uint8_t chain : {1, 2, 3})
    summary.regions.push_back({.thread = 0,
                               .start = catalog.begin + chain,
                               .stop = catalog.begin + 10 - chain,
                               .chain = chain,
                               .started_by = CONTROL_INT3,
                               .stopped_by = CONTROL_INT3});
  const std::string text = all();
  for (const char *line : {"\n1       sixteen letters!  int3 ", "\n2       2                 int3 ",
                           "\n3       3                 int3 "})
    EXPECT_NE(text.find(line), text.npos) << text;
}

} // namespace
} // namespace ovnitrace
