// SPDX-License-Identifier: BSD-2-Clause
// `ovnitrace why --json`: two hosts, what is not known, and how sums are put together.
#include "emulator/why/why_report.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>

namespace ovnitrace {
namespace {

using nlohmann::json;
using Kind = Culprit::Kind;

/// The first thread is on the first host, the second one on the other. 77 is not traced: it is
/// "hog" on the first host, "cc1" on the other.
class WhyJson : public ::testing::Test {
protected:
  WhyJson() {
    catalog.hosts = {{"node"}, {"other"}};
    catalog.hosts[0].peers = {{.tid = 77, .pid = 77, .name = "hog"}};
    catalog.hosts[1].peers = {{.tid = 77, .pid = 77, .name = "cc1"}};
    catalog.cpus = {{.index = 4, .host = 0}, {.index = 6, .host = 1}};
    catalog.begin = 1000;
    info.machine = "x86_64";
    catalog.threads.resize(2);
    catalog.threads[0].tid = 11;
    catalog.threads[0].pid = 10;
    catalog.threads[0].name = "app";
    catalog.threads[1].tid = 21;
    catalog.threads[1].pid = 20;
    catalog.threads[1].name = "job";
    catalog.threads[1].host = 1;
    why.shown = {1, 1};
    why.threads.resize(2);
    why.range = {3000, 9003000};
  }
  json report(CriticalPath *path = nullptr) {
    const Stacks stacks(catalog, sink);
    const std::string directory = "trace";
    std::string text;
    write_why_json({directory, info, catalog, stacks, why, path},
                   [&](std::string_view part) { text += part; });
    return json::parse(text);
  }
  static LongWait wait(uint32_t thread, uint64_t start, uint64_t end) {
    LongWait wait = {.thread = thread, .start = start, .end = end};
    wait.kind = WaitKind::wakeup;
    return wait;
  }

  const Culprit outside = {Kind::untraced, 77};
  TraceInfo info;
  Catalog catalog;
  test::CollectingSink sink;
  Explanation why;
};

TEST_F(WhyJson, AnUntracedThreadHasTheNameThatItHasOnItsHost) {
  for (const uint32_t thread : {0u, 1u}) {
    why.waits.push_back(
        {.thread = thread, .kind = WaitKind::wakeup, .holder = outside, .ns = thread + 5});
    why.blocks.push_back({.thread = thread, .waker = outside, .ns = thread + 7, .count = 1});
    why.wakes.push_back({.thread = thread, .waker = outside, .count = 3});
    why.locks.push_back({.thread = thread, .waker = outside, .count = 1, .ns = 9 - thread});
    why.tail.holders.push_back({outside, thread, thread + 2});
    why.longest_waits.push_back(wait(thread, 4000, 5000));
    why.longest_waits.back().by = outside;
    why.longest_waits.back().holders = {{outside, 0, 1000}};
  }
  why.tail.count = 2;
  const json all = report();
  const char *names[] = {"hog", "cc1"};
  for (const size_t n : {0, 1}) {
    EXPECT_EQ(all["threads"][n]["waiting"][0]["holder"], names[n]);
    EXPECT_EQ(all["threads"][n]["waiting"][0]["ns"], n + 5);
    EXPECT_EQ(all["threads"][n]["blocked"][0]["waker"], names[n]);
    EXPECT_EQ(all["threads"][n]["blocked"][0]["ns"], n + 7);
    EXPECT_EQ(all["wakeups"][n]["waker"], names[n]);
    EXPECT_EQ(all["wakeups"][n]["name"], n ? "job" : "app");
    EXPECT_EQ(all["wakeups"][n]["tid"], n ? 21 : 11);
    EXPECT_EQ(all["locks"][n]["waits"][0]["waker"], names[n]);
    EXPECT_EQ(all["locks"][n]["waits"][0]["name"], n ? "job" : "app");
    EXPECT_EQ(all["slowest_waits"]["holders"][n]["holder"], names[n]);
    EXPECT_EQ(all["slowest_waits"]["holders"][n]["ns"], n + 2);
    EXPECT_EQ(all["waits"][n]["by"], names[n]);
    EXPECT_EQ(all["waits"][n]["holders"][0]["holder"], names[n]);
  }
}

TEST_F(WhyJson, AHitIsAWaitOrABlock) {
  why.hit = {wait(1, 4000, 6500)};
  why.hit[0].cpu = 1;
  json hit = report()["hit"];
  EXPECT_EQ(hit["tid"], 21);
  EXPECT_EQ(hit["start_ns"], 3000);
  EXPECT_EQ(hit["ns"], 2500);
  EXPECT_EQ(hit["cpu"], 6);
  why.hit_is_block = true;
  hit = report()["hit"];
  EXPECT_EQ(hit["ns"], 2500);
  EXPECT_FALSE(hit.contains("cpu")) << "a block is for no CPU";
}

TEST_F(WhyJson, ACpuOrAnIdleTimeThatIsNotKnownIsNull) {
  why.longest_waits = {wait(0, 4000, 5000), wait(0, 4000, 4900), wait(0, 4000, 4800)};
  why.longest_waits[0].holders = {{outside, kNone, 1000}};
  why.longest_waits[1].cpu = 2; // there are 2: 0 and 1
  why.longest_waits[2].cpu = 1;
  why.longest_waits[2].holders = {{Kind::unseen, 0, 900}};
  why.longest_waits[2].idle = {.known = true, .ns = 7, .forbidden_ns = 8};
  const json waits = report()["waits"];
  EXPECT_TRUE(waits[0]["cpu"].is_null());
  EXPECT_TRUE(waits[0]["holders"][0]["cpu"].is_null());
  EXPECT_EQ(waits[0]["holders"][0]["and_others"], false);
  EXPECT_TRUE(waits[1]["cpu"].is_null());
  for (const char *key :
       {"idle_while_waiting", "idle_elsewhere_ns", "idle_forbidden_ns", "idle_cpu", "idle_cpu_ns"})
    EXPECT_TRUE(waits[0][key].is_null()) << key;
  EXPECT_EQ(waits[2]["cpu"], 6);
  EXPECT_EQ(waits[2]["holders"][0]["cpu"], 4);
  EXPECT_EQ(waits[2]["holders"][0]["and_others"], true);
  EXPECT_TRUE(waits[2]["holders"][0]["holder_tid"].is_null());
  EXPECT_EQ(waits[2]["idle_elsewhere_ns"], 7);
  EXPECT_EQ(waits[2]["idle_forbidden_ns"], 8);
  EXPECT_TRUE(waits[2]["idle_cpu"].is_null()) << "none was idle";
  EXPECT_TRUE(waits[2]["idle_cpu_ns"].is_null());
}

TEST_F(WhyJson, TenOfTheLongestAreListed) {
  for (uint64_t n = 0; n < 12; n++) {
    why.longest_waits.push_back(wait(0, 4000, 5000 - n));
    why.idle_waits.push_back(wait(1, 4000, 6000 - n));
    why.longest_blocks.push_back(wait(1, 4000, 7000 - n));
  }
  json all = report();
  EXPECT_EQ(all["waits"].size(), 10u);
  EXPECT_EQ(all["waits"][9]["ns"], 991);
  EXPECT_EQ(all["idle_waits"].size(), 10u);
  EXPECT_EQ(all["idle_waits"][9]["ns"], 1991);
  EXPECT_TRUE(all["idle_waits"][9].contains("cpu"));
  EXPECT_EQ(all["blocks"].size(), 10u);
  EXPECT_EQ(all["blocks"][9]["ns"], 2991);
  EXPECT_FALSE(all["blocks"][9].contains("cpu"));
  why.longest_waits.resize(3);
  EXPECT_EQ(report()["waits"].size(), 3u);
}

TEST_F(WhyJson, AWaitHasTheNameThatItsThreadHadThen) {
  catalog.threads[0].earlier_names = {{.until = 4500, .name = "shell"}};
  why.longest_waits = {wait(0, 5000, 9000), wait(0, 4400, 8000)};
  const json waits = report()["waits"];
  EXPECT_EQ(waits[0]["name"], "app");
  EXPECT_EQ(waits[1]["name"], "shell");
}

TEST_F(WhyJson, AThrottledWaitHasNoHolders) {
  const auto one = [&](WaitKind kind, uint64_t throttled) {
    why.longest_waits = {wait(0, 4000, 5000)};
    why.longest_waits[0].kind = kind;
    why.longest_waits[0].throttled = throttled;
    why.longest_waits[0].block.call = FTRACE_CALL_NATIVE;
    why.longest_waits[0].holders = {{outside, 0, 1000}};
    return report()["waits"][0];
  };
  for (const WaitKind kind : {WaitKind::throttling, WaitKind::budget, WaitKind::period}) {
    EXPECT_EQ(one(kind, 0)["holders"], json::array()) << int(kind);
    EXPECT_TRUE(one(kind, 0)["call"].is_null()) << int(kind);
  }
  const json refill = one(WaitKind::refill, 1);
  EXPECT_EQ(refill["holders"][0]["holder_tid"], 77);
  EXPECT_EQ(refill["throttled_ns"], 1);
  EXPECT_TRUE(refill["call"].is_null());
  const json wakeup = one(WaitKind::wakeup, 0);
  EXPECT_FALSE(wakeup.contains("throttled_ns"));
  EXPECT_EQ(wakeup["call"], "read") << "in which it was blocked before";
}

TEST_F(WhyJson, WaitsForQuotaAreOneWhoeverRanMeanwhile) {
  why.waits = {{.thread = 0, .kind = WaitKind::throttling, .holder = outside, .ns = 20},
               {.thread = 0, .kind = WaitKind::wakeup, .holder = {}, .ns = 7},
               {.thread = 0, .kind = WaitKind::throttling, .holder = {Kind::thread, 1}, .ns = 5},
               {.thread = 0, .kind = WaitKind::budget, .holder = {}, .ns = 3},
               {.thread = 0, .kind = WaitKind::wakeup, .holder = {Kind::unseen}, .ns = 2}};
  EXPECT_EQ(report()["threads"][0]["waiting"],
            json::parse(
                R"([{"holder_tid": null, "holder": null, "and_others": false, "ns": 28,
                     "after_ns": {"throttling": 25, "budget": 3}},
                    {"holder_tid": null, "holder": "not known", "and_others": false, "ns": 7,
                     "after_ns": {"wakeup": 7}},
                    {"holder_tid": null, "holder": "no traced thread", "and_others": true, "ns": 2,
                     "after_ns": {"wakeup": 2}}])"));
}

TEST_F(WhyJson, AThreadHasItsOwnSumsAlsoAfterOneThatIsNotShown) {
  why.waits = {{.thread = 0, .kind = WaitKind::wakeup, .holder = outside, .ns = 5},
               {.thread = 1, .kind = WaitKind::wakeup, .holder = outside, .ns = 6}};
  why.blocks = {{.thread = 0, .waker = outside, .ns = 7, .count = 1},
                {.thread = 1, .waker = outside, .ns = 8, .count = 2}};
  why.shown = {0, 1};
  json threads = report()["threads"];
  ASSERT_EQ(threads.size(), 1u);
  EXPECT_EQ(threads[0]["tid"], 21);
  ASSERT_EQ(threads[0]["waiting"].size(), 1u);
  EXPECT_EQ(threads[0]["waiting"][0]["ns"], 6);
  ASSERT_EQ(threads[0]["blocked"].size(), 1u);
  EXPECT_EQ(threads[0]["blocked"][0]["ns"], 8);
  EXPECT_TRUE(threads[0]["blocked"][0]["call"].is_null());
  EXPECT_EQ(threads[0]["blocked"][0]["cause"], "call not known");
}

TEST_F(WhyJson, BlocksOfOneCallAndWakerHaveTheirStacks) {
  const test::TempDir first, second;
  const auto stacks = [](const test::TempDir &dir, const std::string &a, const std::string &b) {
    test::TraceBuilder(dir.path())
        .json(R"({"format": "ovnitrace", "version": 1, "options": {"stacks": "kernel,user"},
                  "stack_files": [{"path": "/opt/app"}],
                  "stack_frames": [{"file": 0, "function": ")" +
              a + R"(", "offset": 1}, {"file": 0, "function": ")" + b + R"(", "offset": 2}],
                  "stacks": [{"user": [0, 1]}, {"user": [1]}]})")
        .write();
    return dir.path();
  };
  catalog.hosts[0].stacks = stacks(first, "pop", "main");
  catalog.hosts[1].stacks = stacks(second, "push", "start");
  const Block read = {.call = FTRACE_CALL_NATIVE, .reason = FTRACE_OFFCPU_SLEEP},
              disk = {.call = FTRACE_CALL_NATIVE, .reason = FTRACE_OFFCPU_DISK, .disk = true};
  const Culprit app(Kind::thread, 0);
  why.blocks = {{.thread = 1, .block = read, .stack = 1, .waker = app, .ns = 500, .count = 3},
                {.thread = 1, .block = read, .stack = 2, .waker = app, .ns = 90, .count = 20},
                {.thread = 1, .block = disk, .stack = 2, .waker = app, .ns = 8, .count = 2},
                {.thread = 1, .block = read, .waker = app, .ns = 1, .count = 100}};
  EXPECT_EQ(report()["threads"][1]["blocked"], json::parse(R"j([
    {"call": "read", "waker_tid": 11, "waker": "app", "ns": 591, "count": 123, "cause": "read",
     "stacks": [{"functions": ["push", "start"], "ns": 500, "count": 3},
                {"functions": ["start"], "ns": 90, "count": 20}]},
    {"call": "read", "waker_tid": 11, "waker": "app", "ns": 8, "count": 2, "cause": "read (disk)",
     "stacks": [{"functions": ["start"], "ns": 8, "count": 2}]
}])j"));
}

TEST_F(WhyJson, GroupsHaveTheirWaitsBehindOthers) {
  for (const char *path : {"/a", "/b", "/c", "kernel"})
    catalog.hosts[1].cgroups.emplace_back().path = path;
  catalog.hosts[1].peers[0].cgroup = 2;
  for (const auto &[tid, cgroup] : {std::pair(22u, 1u), std::pair(23u, 3u), std::pair(24u, 0u)}) {
    ThreadInfo &thread = catalog.threads.emplace_back();
    thread.tid = tid;
    thread.host = 1;
    thread.cgroups = {{0, cgroup}};
  }
  // It is in /a when the range ends.
  catalog.threads[1].cgroups = {{0, 1}, {9003000, 0}, {9003001, 2}};
  why.shown = {0, 1, 0, 0, 0};
  why.threads = {{},
                 {.running = 100, .waiting = 63, .blocked = 200, .unknown = 300},
                 {.waiting = 1000},
                 {},
                 {}};
  const auto behind = [&](Culprit holder, uint64_t ns, WaitKind kind = WaitKind::wakeup) {
    why.waits.push_back({.thread = 1, .kind = kind, .holder = holder, .ns = ns});
  };
  behind({Kind::thread, 2}, 20);
  behind({Kind::untraced, 77}, 10);
  behind({Kind::thread, 3}, 4);
  behind({Kind::thread, 4}, 3);
  behind({}, 21);
  behind({}, 5, WaitKind::throttling);
  const json all = report();
  EXPECT_EQ(all["threads"][0]["cgroup"], "/a");
  EXPECT_EQ(all["cgroups"], json::parse(
                                R"([{"group": "/a", "threads": 1, "running_ns": 100,
    "blocked_ns": 200, "unknown_ns": 300, "waiting_ns": 63, "throttled_ns": 5, "same_group_ns": 3,
    "other_groups_ns": 30, "behind": [{"group": "/b", "ns": 20}, {"group": "/c", "ns": 10}],
    "system_ns": 4, "rest_ns": 21}])"));
}

TEST_F(WhyJson, CausesHaveTheirPercentiles) {
  const auto fill = [](LatencyHistogram &lengths, uint64_t add) {
    for (const auto &[count, ns] :
         {std::pair(120, 3), std::pair(70, 7), std::pair(9, 11), std::pair(1, 19)})
      for (int n = 0; n < count; n++)
        lengths.add(uint64_t(ns) + add);
  };
  fill(why.wait_lengths[size_t(WaitKind::preemption)], 0);
  why.wait_lengths[size_t(WaitKind::not_known)].add(5);
  const Block disk = {.call = FTRACE_CALL_NATIVE, .reason = FTRACE_OFFCPU_DISK, .disk = true};
  why.block_lengths = {{disk, {}}};
  fill(why.block_lengths[0].second, 10);
  EXPECT_EQ(report()["causes"], json::parse(R"j([
    {"kind": "waiting", "cause": "preemption", "count": 200, "p50_ns": 3, "p90_ns": 7,
     "p99_ns": 11, "max_ns": 19},
    {"kind": "waiting", "cause": "unknown", "count": 1, "p50_ns": 5, "p90_ns": 5, "p99_ns": 5,
     "max_ns": 5},
    {"kind": "blocked", "cause": "read (disk)", "count": 200, "p50_ns": 13, "p90_ns": 17,
     "p99_ns": 21, "max_ns": 29
}])j"));
}

TEST_F(WhyJson, APathIsAddedIfThereIsOne) {
  EXPECT_FALSE(report().contains("critical_path"));
  CriticalPath path;
  path.thread = path.last = 1;
  path.from = 4000;
  path.to = 4050;
  PathSegment segment;
  segment.thread = 1;
  segment.from = 4000;
  segment.to = 4050;
  segment.cause = Cause::running;
  path.segments.append(segment);
  const json all = report(&path);
  EXPECT_EQ(all["critical_path_of"],
            json::parse(R"({"tid": 21, "name": "job", "from_ns": 3000, "to_ns": 3050})"));
  EXPECT_EQ(
      all["critical_path"],
      json::parse(R"([{"tid": 21, "name": "job", "cause": "running", "ns": 50, "count": 1}])"));
}

} // namespace
} // namespace ovnitrace
