// SPDX-License-Identifier: BSD-2-Clause
// `ovnitrace why`: whole outputs, from an explanation made by hand and from small traces.
#include "emulator/open/open_trace.h"
#include "emulator/why/slowest.h"
#include "emulator/why/wait_lines.h"
#include "emulator/why/why_report.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/count_in.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <optional>

namespace ovnitrace {
namespace {

/// Two threads of a process, and "hog", which is not traced. Every number occurs once.
class WhyWhole : public ::testing::Test {
protected:
  WhyWhole() {
    catalog.hosts = {{"node"}};
    catalog.hosts[0].peers = {{.tid = 77, .pid = 77, .name = "hog"}};
    catalog.hosts[0].machine = info.machine = "x86_64";
    catalog.cpus = {{.index = 4, .host = 0}, {.index = 5, .host = 0}};
    catalog.begin = 1000;
    for (const auto &[tid, name] : {std::pair(11u, "app"), std::pair(12u, "worker")}) {
      ThreadInfo &thread = catalog.threads.emplace_back();
      thread.tid = tid;
      thread.pid = 11;
      thread.name = name;
    }
    stacks.emplace(catalog, sink);
    why.shown = {1, 1};
    why.range = {3000, 9003000};
    why.recorded = 9000000;
    why.covered = 8000001;
    why.threads = {{.running = 1000002,
                    .waiting = 3000003,
                    .blocked = 2000004,
                    .unknown = 40005,
                    .outside = 6,
                    .idle_known = 2500007,
                    .idle_elsewhere = 700008,
                    .idle_forbidden = 90009,
                    .latency_share = 600010,
                    .idle = {{11, 600012, 80013}}},
                   {.running = 4000014, .waiting = 500015, .blocked = 16, .unknown = 17}};
    why.unknown[size_t(UnknownWhy::lost)] = 40022;
    why.waits = {{.thread = 0, .kind = WaitKind::wakeup, .holder = worker, .ns = 2000018},
                 {.thread = 0, .kind = WaitKind::preemption, .holder = worker, .ns = 900019},
                 {.thread = 0, .kind = WaitKind::wakeup, .holder = hog, .ns = 99966},
                 {.thread = 0, .kind = WaitKind::throttling, .holder = hog, .ns = 20},
                 {.thread = 1, .kind = WaitKind::preemption, .ns = 500015}};
    why.held = {{.thread = 0, .kind = WaitKind::wakeup, .holder = worker, .ns = 2000018},
                {.thread = 0, .kind = WaitKind::preemption, .holder = worker, .ns = 900019},
                {.thread = 0, .kind = WaitKind::wakeup, .holder = hog, .ns = 99966},
                {.thread = 0, .kind = WaitKind::throttling, .holder = hog, .ns = 20},
                {.thread = 1, .kind = WaitKind::preemption, .ns = 500015}};
    const Block read = {.call = FTRACE_CALL_NATIVE, .reason = FTRACE_OFFCPU_SLEEP};
    why.blocks = {{.thread = 0, .block = read, .waker = worker, .ns = 1500023, .count = 24},
                  {.thread = 0, .block = read, .waker = hog, .ns = 499981, .count = 25},
                  {.thread = 1, .block = read, .waker = hog, .ns = 16, .count = 1}};
    why.wakes = {
        {.thread = 0,
         .waker = worker,
         .count = 30,
         .measured = 29,
         .late = 31000,
         .late_max = 32000},
        {.thread = 0, .waker = hog, .count = 27, .measured = 26, .late = 28000, .late_max = 9000}};
    why.locks = {{.thread = 0,
                  .futex = 0xabcd,
                  .waker = worker,
                  .count = 33,
                  .gave_up = 34,
                  .ns = 35000,
                  .max = 36000}};
    for (const uint64_t ns : {1000, 2000, 900000})
      why.wait_lengths[size_t(WaitKind::wakeup)].add(ns);
    why.block_lengths = {{read, {}}};
    why.block_lengths[0].second.add(37000);
    LongWait wait = {.thread = 0, .start = 5000, .end = 905000};
    wait.cpu = 1;
    wait.cpu_ns = 800038;
    wait.moved = true;
    wait.kind = WaitKind::wakeup;
    wait.block = read;
    wait.by = hog;
    wait.holders = {{worker, 1, 600039}, {hog, 0, 299961}};
    wait.idle = {.known = true,
                 .causes = {{44, 200045, 46}},
                 .ns = 300047,
                 .cpu = 0,
                 .cpu_ns = 250048,
                 .forbidden_ns = 49};
    wait.starts = wait.ends = true;
    why.longest_waits = {wait};
    wait.kind = WaitKind::preemption;
    wait.thread = 1;
    wait.start = 800000;
    wait.moved = false;
    wait.starts = false;
    wait.by = Culprit(Culprit::Kind::thread, 0);
    wait.holders = {{Culprit(Culprit::Kind::thread, 0), 1, 105000}};
    why.longest_waits.push_back(wait);
    LongWait block = {.thread = 0, .start = 1005000, .end = 1042000};
    block.block = read;
    block.by = worker;
    block.starts = block.ends = true;
    why.longest_blocks = {block};
    why.tail = {.count = 3, .all = 300, .shortest = 800041, .holders = {{worker, 0, 43}}};
  }
  WhyInput input() const { return {path, info, catalog, *stacks, why}; }

  const Culprit worker = Culprit(Culprit::Kind::thread, 1), hog = {Culprit::Kind::untraced, 77};
  const std::string path = "trace";
  TraceInfo info;
  Catalog catalog;
  test::CollectingSink sink;
  std::optional<Stacks> stacks; ///< after the hosts are there
  Explanation why;
};

TEST_F(WhyWhole, TheTextHasEachTable) {
  EXPECT_EQ("\n" + why_text(input()), R"(
app (11, 2 threads) ran for 47 % of its time in the regions of --control and waited 33 % for a CPU,
mostly behind its own threads. It was blocked in read for 19 %, mostly woken by worker (12).

2 threads, 9.000 ms from 2.000 us on; 100 % is their time in the regions of --control, 10.54 ms

WHERE THE TIME WENT                              TIME       %  TIMES
running                                      5.000 ms  47.4 %
waiting for a CPU                            3.500 ms  33.2 %
  after a wakeup                             2.100 ms  19.9 %      3
    held by: worker (12)                     2.000 ms  19.0 %
    held by: hog (77), not traced            99.97 us   0.9 %
  after a preemption                         1.400 ms  13.3 %
    held by: worker (12)                     900.0 us   8.5 %
    held by: not known                       500.0 us   4.7 %
  throttled, at most: no CPU quota was left     20 ns   0.0 %
blocked                                      2.000 ms  19.0 %
  read                                       2.000 ms  19.0 %     50
    woken by: worker (12)                    1.500 ms  14.2 %     24
    woken by: hog (77), not traced           500.0 us   4.7 %     26
not known                                    40.02 us   0.4 %
  events were lost                           40.02 us   0.4 %

A CPU was idle for 680.0 us of 2.500 ms of waiting for which it is known (27.2 %):
     11 ns  wakeup in flight: its own CPU was idle, and had not yet taken the thread
  600.0 us  scheduler: another CPU was idle that the thread may use
  80.01 us  affinity: only CPUs were idle that the thread may not use

HOW LONG EACH TIME WAS       p50       p90       p99       MAX
after a wakeup          2.000 us  900.0 us  900.0 us  900.0 us
read                    37.00 us  37.00 us  37.00 us  37.00 us

THREAD        RUNNING       %   WAITING       %   BLOCKED       %  NOT KNOWN
app (11)     1.000 ms  16.6 %  3.000 ms  49.7 %  2.000 ms  33.1 %   40.01 us
worker (12)  4.000 ms  88.9 %  500.0 us  11.1 %     16 ns   0.0 %      17 ns

The longest waits for a CPU:
  app (11) waited 900.0 us, 800.0 us of it for CPU 5, from 0.000004 s: woken by hog (77), not traced
      (read), meanwhile worker (12) ran there for 600.0 us, others for 200.0 us, CPU 4 was idle for
      250.0 us of it
  worker (12) waited 105.0 us for CPU 5 from 0.000799 s, and already before: preempted by app (11),
      meanwhile app (11) ran there for 105.0 us, others for 695.0 us, CPU 4 was idle for 250.0 us of
      it

The longest times blocked:
  app (11) was blocked 37.00 us from 0.001004 s (read): woken by worker (12)

Who wakes whom, and how late it then got a CPU:
WAKER                 WAKES     TIMES  LATE, MEAN  LATE, MAX
worker (12)           app (11)     30    1.068 us   32.00 us
hog (77), not traced  app (11)     27    1.076 us   9.000 us

Waits for futexes, by the low half of their address:
FUTEX   PROCESS  MOST TIME ENDED BY  THREADS  WAITS      TIME       MAX
0xabcd  11       worker (12)               1     33  35.00 us  36.00 us
)");
}

TEST_F(WhyWhole, TheJsonHasEachMember) {
  std::string text;
  write_why_json(input(), [&](std::string_view part) { text += part; });
  nlohmann::json all = nlohmann::json::parse(text);
  EXPECT_EQ(all["answer"]["advice"], "");
  all.erase("answer"); // as in the text
  EXPECT_EQ(
      all,
      nlohmann::json::parse(
          R"({"schema": 1, "trace": "trace", "from_ns": 2000, "duration_ns": 9000000, "hit": null,
"covered_ns": 8000001, "threads": [{"tid": 11, "pid": 11, "name": "app", "cgroup": null,
"life_ns": 6040014, "running_ns": 1000002, "latency_share_ns": 600010, "waiting_ns": 3000003,
"blocked_ns": 2000004, "unknown_ns": 40005, "outside_regions_ns": 6, "idle_elsewhere_ns":
700008, "idle_forbidden_ns": 90009, "idle_while_waiting": {"known_ns": 2500007, "in_flight_ns":
11, "scheduler_ns": 600012, "affinity_ns": 80013}, "waiting": [{"holder_tid": 12, "holder":
"worker", "and_others": false, "ns": 2900037, "after_ns": {"wakeup": 2000018, "preemption":
900019}}, {"holder_tid": 77, "holder": "hog", "and_others": false, "ns": 99966, "after_ns":
{"wakeup": 99966}}, {"holder_tid": null, "holder": null, "and_others": false, "ns": 20,
"after_ns": {"throttling": 20}}], "blocked": [{"call": "read", "waker_tid": 12, "waker":
"worker", "ns": 1500023, "count": 24, "cause": "read", "stacks": []}, {"call": "read",
"waker_tid": 77, "waker": "hog", "ns": 499981, "count": 25, "cause": "read", "stacks": []}]},
{"tid": 12, "pid": 11, "name": "worker", "cgroup": null, "life_ns": 4500062, "running_ns":
4000014, "latency_share_ns": 0, "waiting_ns": 500015, "blocked_ns": 16, "unknown_ns": 17,
"outside_regions_ns": 0, "idle_elsewhere_ns": null, "idle_forbidden_ns": null,
"idle_while_waiting": null, "waiting": [{"holder_tid": null, "holder": "not known",
"and_others": false, "ns": 500015, "after_ns": {"preemption": 500015}}], "blocked": [{"call":
"read", "waker_tid": 77, "waker": "hog", "ns": 16, "count": 1, "cause": "read", "stacks":
[]}]}], "cgroups": [{"group": null, "threads": 2, "running_ns": 5000016, "blocked_ns": 2000020,
"unknown_ns": 40022, "waiting_ns": 3500018, "throttled_ns": 20, "same_group_ns": 0,
"other_groups_ns": 0, "behind": [], "system_ns": 0, "rest_ns": 3500018}], "causes": [{"kind":
"waiting", "cause": "wakeup", "count": 3, "p50_ns": 2000, "p90_ns": 900000, "p99_ns": 900000,
"max_ns": 900000}, {"kind": "blocked", "cause": "read", "count": 1, "p50_ns": 37000, "p90_ns":
37000, "p99_ns": 37000, "max_ns": 37000}], "slowest_waits": {"count": 3, "of": 300,
"shortest_ns": 800041, "holders": [{"holder_tid": 12, "holder": "worker", "ns": 43}]}, "waits":
[{"tid": 11, "name": "app", "start_ns": 4000, "ns": 900000, "starts": true, "ends": true,
"cpu": 5, "cpu_ns": 800038, "after": "wakeup", "holders": [{"holder_tid": 12, "holder":
"worker", "and_others": false, "cpu": 5, "ns": 600039}, {"holder_tid": 77, "holder": "hog",
"and_others": false, "cpu": 4, "ns": 299961}], "idle_while_waiting": {"known_ns": 900000,
"in_flight_ns": 44, "scheduler_ns": 200045, "affinity_ns": 46}, "idle_elsewhere_ns": 300047,
"idle_forbidden_ns": 49, "idle_cpu": 4, "idle_cpu_ns": 250048, "call": "read", "by_tid": 77,
"by": "hog"}, {"tid": 12, "name": "worker", "start_ns": 799000, "ns": 105000, "starts": false,
"ends": true, "cpu": 5, "cpu_ns": 800038, "after": "preemption", "holders": [{"holder_tid": 11,
"holder": "app", "and_others": false, "cpu": 5, "ns": 105000}], "idle_while_waiting":
{"known_ns": 105000, "in_flight_ns": 44, "scheduler_ns": 200045, "affinity_ns": 46},
"idle_elsewhere_ns": 300047, "idle_forbidden_ns": 49, "idle_cpu": 4, "idle_cpu_ns": 250048,
"call": null, "by_tid": 11, "by": "app"}], "idle_waits": [], "blocks": [{"tid": 11, "name":
"app", "start_ns": 1004000, "ns": 37000, "starts": true, "ends": true, "call": "read",
"by_tid": 12, "by": "worker"}], "wakeups": [{"waker_tid": 12, "waker": "worker", "tid": 11,
"name": "app", "count": 30, "measured": 29, "late_ns": 31000, "late_max_ns": 32000},
{"waker_tid": 77, "waker": "hog", "tid": 11, "name": "app", "count": 27, "measured": 26,
"late_ns": 28000, "late_max_ns": 9000}], "locks": [{"futex": 43981, "pid": 11, "pi": false,
"max_at": null, "count": 33, "gave_up": 34, "ns": 35000, "max_ns": 36000, "waits": [{"tid": 11,
"name": "app", "waker_tid": 12, "waker": "worker", "count": 33, "gave_up": 34, "ns": 35000,
"max_ns": 36000}]}]})"));
}

TEST_F(WhyWhole, AYieldIsExplainedInItsLine) {
  const auto line = [&](WaitKind kind, Culprit by) {
    LongWait &wait = why.longest_waits[1];
    wait.kind = kind;
    wait.by = by;
    const std::string text = wait_line(input(), wait), before = "already before: ";
    const size_t from = text.find(before) + before.size();
    return text.substr(from, text.find(',', from) - from);
  };
  EXPECT_EQ(line(WaitKind::yield, worker), "it yielded to worker (12)");
  EXPECT_EQ(line(WaitKind::yield, {}), "it yielded to others");
  EXPECT_EQ(line(WaitKind::spin, worker), "it spins in sched_yield");
}

class SlowestSections : public ::testing::Test {
protected:
  SlowestSections() {
    test::TraceBuilder trace(dir.path());
    auto &cpu = trace.cpu(0).at(1000).start().id(1, 11, 11, "app").dispatch(1).at(2000);
    cpu.record(FTrace_EVT_user_event_13, 0, 7).at(3000);
    cpu.record(FTrace_EVT_user_event_14, 0, 7).at(4000);
    cpu.record(FTrace_EVT_user_event_13, 0, 7).at(4100).sleep(1).at(4600).activate(1, 0);
    cpu.at(4900).dispatch(1).at(6000).record(FTrace_EVT_user_event_14, 0, 7).at(7000).stop();
    trace.json(R"({"version": 1, "all_threads": true})").write();
  }
  SlowestInput input(uint32_t number, size_t most) {
    return {dir.path(), info, cut,
            number,     most, [this] { return open_trace({{dir.path()}}, sink); }};
  }

  test::TempDir dir;
  test::CollectingSink sink;
  TraceInfo info;
  Cut cut;
};

TEST_F(SlowestSections, TheTextHasEachSectionWithItsPath) {
  EXPECT_EQ("\n" + slowest_text(input(7, 2)), R"(
1. Section 7 of app (11): 2.000 us, from 0.000003 s of the trace on

WHERE THE TIME WENT      TIME       %  TIMES
running              1.200 us  60.0 %
waiting for a CPU      300 ns  15.0 %
  after a wakeup       300 ns  15.0 %      1
    held by: idle      300 ns  15.0 %
blocked                500 ns  25.0 %
  call not known       500 ns  25.0 %      1
    woken by: idle     500 ns  25.0 %      1

Critical path of app (11): 2.000 us, from 3.000 us to 5.000 us of the trace

THREAD    CAUSE                  TIME   SHARE  TIMES
app (11)  running            1.200 us  60.0 %      2
app (11)  outside: idle        500 ns  25.0 %      1
app (11)  waiting for a CPU    300 ns  15.0 %      1

Who held the CPU meanwhile

HOLDER    TIME   SHARE  TIMES
idle    300 ns  15.0 %      1

2. Section 7 of app (11): 1.000 us, from 0.000001 s of the trace on

WHERE THE TIME WENT      TIME        %  TIMES
running              1.000 us  100.0 %
waiting for a CPU           0    0.0 %
blocked                     0    0.0 %

Critical path of app (11): 1.000 us, from 1.000 us to 2.000 us of the trace

THREAD    CAUSE        TIME    SHARE  TIMES
app (11)  running  1.000 us  100.0 %      1
)");
}

TEST_F(SlowestSections, AreShownInShort) {
  test::TraceBuilder trace(dir.path());
  auto &cpu = trace.cpu(0).at(1000).start().id(1, 11, 11, "app").dispatch(1);
  cpu.record(FTrace_EVT_user_event_13, 0, 9);
  std::string peers;
  for (uint32_t waker = 71; waker < 78; waker++) {
    cpu.at(waker * 1000).sleep(1).at(waker * 1000 + 100).activate(1, waker).dispatch(1);
    peers += fmt::format(R"({}{{"tid": {}, "name": "w{}"}})", peers.empty() ? "" : ", ", waker,
                         char('a' + waker - 71));
  }
  cpu.at(90'000).record(FTrace_EVT_user_event_14, 0, 9).at(91'000).stop();
  trace.json(R"({"version": 1, "peers": [)" + peers + "]}").write();
  const std::string text = slowest_text(input(9, 1));
  EXPECT_EQ(test::count_in(text, "woken by: "), 3u) << text;
  EXPECT_EQ(test::count_in(text, "\napp (11)  "), 5u) << text;
  EXPECT_EQ(test::count_in(text, "\nthe rest "), 1u) << text;
}

TEST_F(SlowestSections, TheJsonHasTimesFromTheStartOfTheTrace) {
  EXPECT_EQ(
      nlohmann::json(slowest_json(input(7, 1))),
      nlohmann::json::parse(
          R"({"section": 7, "slowest": [{"tid": 11, "name": "app", "from_ns": 3000, "to_ns": 5000,
"running_ns": 1200, "waiting_ns": 300, "blocked_ns": 500, "unknown_ns": 0, "critical_path_of":
{"tid": 11, "name": "app", "from_ns": 3000, "to_ns": 5000}, "critical_path": [{"tid": 11,
"name": "app", "cause": "running", "ns": 1200, "count": 2}, {"tid": 11, "name": "app", "cause":
"outside: idle", "ns": 500, "count": 1}, {"tid": 11, "name": "app", "cause":
"waiting for a CPU", "ns": 300, "count": 1, "holder_tid": 0, "holder": "idle"}]}]})"));
}

/// They are from 1000 to 2000 and from 3000 to 5000 ns.
TEST_F(SlowestSections, StartAndEndInThePartOfTheTrace) {
  const auto starts = [&](uint64_t from, uint64_t to) {
    Cut part;
    part.from = from;
    part.to = to;
    std::vector<uint64_t> starts;
    for (const LongSection &one : longest_sections(*input(7, 2).open(), part, 7, 2))
      starts.push_back(one.from - 1000);
    return starts;
  };
  EXPECT_EQ(starts(1000, 5000), (std::vector<uint64_t>{3000, 1000}));
  EXPECT_EQ(starts(1000, 4999), std::vector<uint64_t>{1000});
  EXPECT_EQ(starts(1001, 5000), std::vector<uint64_t>{3000});
}

TEST_F(SlowestSections, ANumberWithoutASectionIsAnError) {
  try {
    slowest_text(input(8, 2));
    ADD_FAILURE();
  } catch (const std::exception &error) {
    EXPECT_STREQ(error.what(), "no section 8 starts and ends in this part of the trace");
  }
}

} // namespace
} // namespace ovnitrace
