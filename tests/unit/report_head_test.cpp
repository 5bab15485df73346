// SPDX-License-Identifier: BSD-2-Clause
// The lines above and below the tables of `ovnitrace info`.
#include "emulator/summary/report.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <string>

namespace ovnitrace {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;

/// A trace of 2.5 s, 1000 s after its machine was booted.
class ReportHead : public testing::Test {
protected:
  ReportHead() {
    catalog.hosts.resize(1);
    catalog.cpus.resize(1);
    catalog.begin = 1000 * kSecond;
    catalog.end = catalog.begin + 2'500'000'000;
    summary.from = catalog.begin;
    summary.to = catalog.end;
    summary.recorded = 2'500'000'000;
    summary.cpus.resize(1);
  }
  ~ReportHead() override {
    unsetenv("TZ");
    tzset();
  }
  void add_threads(uint32_t count) {
    for (uint32_t n = 0; n < count; n++) {
      ThreadInfo &thread = catalog.threads.emplace_back();
      thread.tid = thread.pid = 11 + n;
      summary.shown.push_back(1);
      summary.threads.emplace_back();
    }
  }
  std::string report(size_t columns = SIZE_MAX) const {
    return text_report({path, info, catalog, summary, answer}, {.columns = columns});
  }
  std::string head(size_t columns = SIZE_MAX) const {
    const std::string text = report(columns);
    const size_t end = text.find("\n\n");
    return end == text.npos ? text : text.substr(0, end + 1);
  }
  /// Returns the line of a key without it; empty if it does not exist.
  std::string line(const std::string &key) const {
    const std::string text = "\n" + head(), start = "\n" + key + std::string(10 - key.size(), ' ');
    const size_t at = text.find(start);
    if (at == text.npos)
      return "";
    return text.substr(at + start.size(), text.find('\n', at + 1) - at - start.size());
  }

  const std::string path = "/tmp/t";
  TraceInfo info;
  Catalog catalog;
  Summary summary;
  Answer answer;
};

TEST_F(ReportHead, HasALineForEachThingThatIsKnown) {
  setenv("TZ", "XYZ-2", 1); // two hours ahead of UTC
  tzset();
  add_threads(2);
  catalog.cpus = {{0}, {1}, {4}};
  summary.cpus.resize(3);
  info.host = "node";
  info.kernel = "6.1.0";
  info.machine = "x86_64";
  info.command = {"./a b", "-n"};
  info.attached_pids = {40, 30};
  info.families = "sched";
  info.buffer = "cyc:4096";
  info.stacks = "kernel";
  info.user = "joe";
  info.with_children = false;
  info.filters = {"--comm x\x1b", "--cpu 0"};
  info.chains = {"load", "save"};
  info.region_by_thread = true;
  info.to_wall_ns = 1'700'000'000 * int64_t(kSecond); // 2023-11-14 22:13:20 UTC
  info.ended = "exited with status 3";
  info.stack_counts = {.all = 7, .distinct = 2};
  info.tracer = "0.3.0";
  summary.shown[1] = 0;
  summary.from += 1 * kSecond;
  summary.to = summary.from + kSecond;
  summary.recorded = kSecond / 4;
  summary.events = 8;
  summary.lost = 5;
  summary.forgotten = 1;
  catalog.hosts[0].marks = {{catalog.begin - 1, "early"},
                            {catalog.begin, "start"},
                            {catalog.begin + kSecond * 3 / 2, "late"}};
  answer = {"It ran.", "Do nothing."};
  const std::string text = report();
  EXPECT_EQ("\n" + text.substr(0, text.find("\n\n", text.find("trace  ")) + 1), R"(
It ran.
Do nothing.

trace     /tmp/t
host      node, Linux 6.1.0, x86_64, 3 CPUs
command   './a b' -n
target    processes 40, 30
asked     families sched, buffer last:4K, stacks kernel, as user joe, --no-children, --comm x?, --cpu 0, --control load, --control save, --region thread
captured  2023-11-15 00:30:00 +0200, for 2.500 s
ended     exited with status 3
stacks    7 stacks, 2 distinct
tracer    ovnitrace 0.3.0
shown     1.000 s, from 1.000 s on; 1 of 2 threads
regions   250.0 ms, to which times and percentages refer
contents  1 process, 1 thread, 8 events
lost      5 events
forgotten 1 event, older than what the flight recorder keeps
mark      start at 0
mark      late at 1.500 s
)");
}

TEST_F(ReportHead, HasNoLineForWhatIsNotKnown) {
  EXPECT_EQ("\n" + report(), R"(
trace     /tmp/t
host      1 CPU
captured  for 2.500 s
contents  0 processes, 0 threads, 0 events
lost      0 events
)") << "and neither tables nor states without a thread";
}

TEST_F(ReportHead, TheTargetIsAProgramProcessesOrTheMachine) {
  EXPECT_EQ(line("target"), "");
  info.tracer = "0.3.0";
  EXPECT_EQ(line("target"), "the whole machine") << "no program was started";
  info.command = {"app"};
  EXPECT_EQ(line("target"), "");
  info.filters = {"--comm x"};
  EXPECT_EQ(line("target"), "") << "the threads of the program that pass";
  info.all_threads = true;
  EXPECT_EQ(line("target"), "the whole machine");
  info.command.clear();
  EXPECT_EQ(line("target"), "threads of the machine that pass the filters");
  info.attached_pids = {40};
  EXPECT_EQ(line("target"), "process 40");
  info.attached_pids = {40, 7, 30};
  EXPECT_EQ(line("target"), "processes 40, 7, 30");
}

TEST_F(ReportHead, ARangeAndAChoiceOfThreadsAreShown) {
  add_threads(3);
  EXPECT_EQ(line("shown"), "");
  summary.shown[2] = 0;
  EXPECT_EQ(line("shown"), "2 of 3 threads");
  EXPECT_EQ(line("contents"), "2 processes, 2 threads, 0 events");
  summary.to = summary.from + 7;
  summary.recorded = 7;
  EXPECT_EQ(line("shown"), "7 ns, from 0 on; 2 of 3 threads");
  summary.shown[2] = 1;
  EXPECT_EQ(line("shown"), "7 ns, from 0 on");
  summary.from += 3;
  summary.to = catalog.end;
  summary.recorded = 2'499'999'997;
  EXPECT_EQ(line("shown"), "2.500 s, from 3 ns on");
  EXPECT_EQ(line("regions"), "");
  summary.recorded--;
  EXPECT_EQ(line("regions"), "2.500 s, to which times and percentages refer");
}

TEST_F(ReportHead, ALossThatIsNotCountedIsNotKnown) {
  summary.lost_more = true;
  EXPECT_EQ(line("lost"), "not known");
  summary.lost = 1;
  EXPECT_EQ(line("lost"), "not known, at least 1 event");
  EXPECT_EQ(line("forgotten"), "");
  summary.forgotten = 2000;
  EXPECT_EQ(line("forgotten"), "2,000 events, older than what the flight recorder keeps");
}

TEST_F(ReportHead, TotalsHaveALossThatIsNotCounted) {
  const auto has = [&](const char *line) {
    return totals({path, info, catalog, summary, answer}, {}).find(line) != std::string::npos;
  };
  EXPECT_FALSE(has("events lost"));
  summary.lost_more = true;
  EXPECT_TRUE(has("\n       not known  events lost\n"));
  summary.lost = 3;
  EXPECT_TRUE(has("\nnot known, at least 3  events lost\n"));
}

TEST_F(ReportHead, LinesAreBrokenAndTheCommandIsShortened) {
  info.command = {"0123456789", "more"};
  info.ended = "killed by signal 9";
  EXPECT_EQ("\n" + report(24), R"(
trace     /tmp/t
host      1 CPU
command   0123456789 mo…
captured  for 2.500 s
ended     killed by
          signal 9
contents  0 processes, 0
          threads, 0
          events
lost      0 events
)");
  EXPECT_EQ(report(10).find("command"), std::string::npos) << "there is no room for it";
}

TEST_F(ReportHead, StatesAreExplainedBesideOrBelowTheirNames) {
  add_threads(1);
  const auto states = [&](size_t columns) {
    const std::string text = report(columns);
    return text.substr(text.rfind("\n\n") + 1);
  };
  EXPECT_EQ(states(100), R"(
RUNNING              on a CPU; % is its share of the life of the thread in the part shown
PREEMPTED (COOLING)  could run, but lost its CPU, was throttled or yielded, and waits for one
WOKEN (WARMING)      woken, and waits for a CPU; also a wait that began before the trace
BLOCKED (PAUSED)     waits for something else than a CPU
UNKNOWN              not seen: before its first event, outside filters, in a pause, after a loss
)");
  EXPECT_EQ(states(60).find("\nRUNNING              on a CPU; % is its share of the life of"), 0u)
      << states(60);
  EXPECT_EQ(states(59), R"(
RUNNING
  on a CPU; % is its share of the life of the thread in the
  part shown
PREEMPTED (COOLING)
  could run, but lost its CPU, was throttled or yielded,
  and waits for one
WOKEN (WARMING)
  woken, and waits for a CPU; also a wait that began before
  the trace
BLOCKED (PAUSED)
  waits for something else than a CPU
UNKNOWN
  not seen: before its first event, outside filters, in a
  pause, after a loss
)");
  catalog.hosts[0].all_threads = true;
  EXPECT_EQ(
      states(100).find(
          "\nRUNNING              on a CPU; % is the share of the time of all CPUs\nPREEMPTED"),
      0u);
}

} // namespace
} // namespace ovnitrace
