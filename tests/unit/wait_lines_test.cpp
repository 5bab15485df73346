// SPDX-License-Identifier: BSD-2-Clause
// The lines of `ovnitrace why` on single waits and blocks, made by hand: who ran meanwhile, and for
// how long.
#include "emulator/why/wait_lines.h"
#include "tests/unit/support/collecting_sink.h"

#include <gtest/gtest.h>
#include <ovnitrace/ftrace_codes.h>

#include <optional>
#include <string>

namespace ovnitrace {
namespace {

using Kind = Culprit::Kind;

/// The thread "app" waits for CPU 4 of the second host, from 3.000001 s to 3.001001 s.
class WaitLines : public ::testing::Test {
protected:
  WaitLines() {
    catalog.hosts = {{"node"}, {"other"}};
    catalog.hosts[0].peers = {{.tid = 77, .pid = 77, .name = "wrong"}};
    catalog.hosts[1].peers = {{.tid = 77, .pid = 77, .name = "hog"}};
    catalog.begin = 1'000'000'000;
    catalog.cpus = {{.index = 0, .host = 0}, {.index = 4, .host = 1}, {.index = 5, .host = 1}};
    catalog.threads.resize(2);
    catalog.threads[0].tid = 11;
    catalog.threads[0].name = "app";
    catalog.threads[0].host = 1;
    catalog.threads[1].tid = 12;
    catalog.threads[1].name = "worker";
    catalog.threads[1].host = 1;
    info.machine = "x86_64";
    stacks.emplace(catalog, sink);
    wait = {.thread = 0, .start = 4'000'001'000, .end = 4'001'001'000};
    wait.cpu = 1;
    wait.cpu_ns = 1'000'000;
    wait.kind = WaitKind::preemption;
    wait.by = worker;
    wait.starts = wait.ends = true;
  }
  std::string line() const { return wait_line({path, info, catalog, *stacks, why}, wait); }
  /// The line behind its start, which all have.
  std::string rest() const {
    const std::string start = "app (11) waited 1.000 ms for CPU 4 from 3.000001 s: ";
    EXPECT_EQ(line().find(start), 0u) << line();
    return line().substr(start.size());
  }
  std::string block() const { return block_line({path, info, catalog, *stacks, why}, wait); }

  const Culprit worker = {Kind::thread, 1}, hog = {Kind::untraced, 77};
  const std::string path;
  TraceInfo info;
  Catalog catalog;
  test::CollectingSink sink;
  std::optional<Stacks> stacks;
  Explanation why;
  LongWait wait;
};

TEST_F(WaitLines, WhoHeldNineTenthsOfTheTimeIsNamedAlone) {
  wait.holders = {{worker, 1, 900'000}, {hog, 1, 100'000}};
  EXPECT_EQ(rest(), "preempted by worker (12), which ran there");
  wait.holders[0].ns = 899'999;
  EXPECT_EQ(rest(), "preempted by worker (12), meanwhile worker (12) ran there for 900.0 us, hog "
                    "(77) for 100.0 us, others for 1 ns");
  wait.holders = {{hog, 1, 900'000}};
  EXPECT_EQ(rest(), "preempted by worker (12), hog (77) ran there") << "another one";
  wait.by = hog;
  EXPECT_EQ(rest(), "preempted by hog (77), not traced, which ran there");
  wait.kind = WaitKind::wakeup;
  EXPECT_EQ(rest(), "woken by hog (77), not traced, hog (77) ran there");
}

TEST_F(WaitLines, TwoHoldersAreNamedAndTheRestIsOthers) {
  wait.holders = {{hog, 1, 500'000}, {worker, 1, 300'000}, {{Kind::untraced, 99}, 1, 200'000}};
  EXPECT_EQ(rest(), "preempted by worker (12), meanwhile hog (77) ran there for 500.0 us, worker "
                    "(12) for 300.0 us, others for 200.0 us");
  wait.holders.pop_back();
  wait.cpu_ns = 800'000;
  EXPECT_EQ(rest(), "preempted by worker (12), meanwhile hog (77) ran there for 500.0 us, worker "
                    "(12) for 300.0 us");
  wait.holders = {{{Kind::untraced, 99}, 1, 400'000}, {Kind::idle, 1, 300'000}};
  EXPECT_EQ(rest(), "preempted by worker (12), meanwhile thread 99 ran there for 400.0 us, nobody "
                    "(idle) for 300.0 us, others for 100.0 us");
  for (const Kind unknown : {Kind::unseen, Kind::not_known}) {
    wait.holders = {{unknown, 1, 800'000}};
    EXPECT_EQ(rest(), "preempted by worker (12), nobody knows who ran there");
  }
}

TEST_F(WaitLines, OnlyHoldersOfTheCpuOfTheWaitAreNamed) {
  wait.moved = true;
  wait.cpu_ns = 600'000;
  wait.holders = {{worker, 2, 400'000}, {hog, 1, 590'000}};
  EXPECT_EQ(line(),
            "app (11) waited 1.000 ms, 600.0 us of it for CPU 4, from 3.000001 s: preempted "
            "by worker (12), hog (77) ran there");
  wait.holders.pop_back();
  EXPECT_EQ(line(),
            "app (11) waited 1.000 ms, 600.0 us of it for CPU 4, from 3.000001 s: preempted "
            "by worker (12)");
}

TEST_F(WaitLines, AWaitSaysWhatItFollowed) {
  const Block read = {.call = FTRACE_CALL_NATIVE, .reason = FTRACE_OFFCPU_DISK, .disk = true};
  wait.holders = {{hog, 1, 1'000'000}};
  const auto text = [&](WaitKind kind) {
    wait.kind = kind;
    return rest();
  };
  EXPECT_EQ(text(WaitKind::wakeup), "woken by worker (12), hog (77) ran there");
  wait.block = read;
  EXPECT_EQ(text(WaitKind::wakeup), "woken by worker (12) (read (disk)), hog (77) ran there");
  EXPECT_EQ(text(WaitKind::yield), "it yielded to worker (12), hog (77) ran there");
  wait.by = {};
  EXPECT_EQ(text(WaitKind::wakeup), "woken (read (disk)), hog (77) ran there");
  EXPECT_EQ(text(WaitKind::preemption), "preempted, hog (77) ran there");
  EXPECT_EQ(text(WaitKind::yield), "it yielded to others, hog (77) ran there");
  EXPECT_EQ(text(WaitKind::spin), "it spins in sched_yield, hog (77) ran there");
  EXPECT_EQ(text(WaitKind::not_known), "why is not known, hog (77) ran there");
  EXPECT_EQ(text(WaitKind::throttling), "no CPU quota was left");
  EXPECT_EQ(text(WaitKind::budget), "it had used up its budget, and waited for its next period");
  EXPECT_EQ(text(WaitKind::period), "it had yielded, and waited for its next period");
  EXPECT_EQ(text(WaitKind::refill), "it had quota or budget again, hog (77) ran there");
  wait.throttled = 400'000;
  wait.throttled_kind = WaitKind::budget;
  EXPECT_EQ(text(WaitKind::refill),
            "it had used up its budget, and waited for its next period, for "
            "400.0 us; then it waited 600.0 us, hog (77) ran there");
}

TEST_F(WaitLines, AnotherCpuThatWasIdleIsNamed) {
  wait.idle.known = true;
  wait.idle.cpu = 2;
  wait.idle.cpu_ns = 7000;
  wait.idle.forbidden_cpu = 0;
  wait.idle.forbidden_cpu_ns = 9000;
  const std::string start = "preempted by worker (12)";
  EXPECT_EQ(rest(), start + ", CPU 5 was idle for 7.000 us of it");
  wait.idle.cpu = wait.cpu;
  EXPECT_EQ(rest(), start + ", CPU 0, which it may not use, was idle for 9.000 us of it")
      << "its own CPU was idle before it came there";
  wait.idle.cpu = kNone;
  wait.idle.forbidden_cpu = wait.cpu;
  EXPECT_EQ(rest(), start);
  wait.idle.forbidden_cpu = kNone;
  wait.ends = false;
  EXPECT_EQ(rest(), start + ", and it still waits");
  why.range.to = wait.end;
  EXPECT_EQ(rest(), start + ", and it still waits");
  why.range.to++;
  EXPECT_EQ(rest(), start + ", and its end was not seen");
  wait.ends = true;
  EXPECT_EQ(rest(), start);
}

TEST_F(WaitLines, AWaitFromBeforeAndForNoKnownCpu) {
  wait.cpu = 3; // there are 3: 0 to 2
  wait.starts = false;
  EXPECT_EQ(line(), "app (11) waited 1.000 ms for a CPU from 3.000001 s, and already before: "
                    "preempted by worker (12)");
  catalog.threads[0].earlier_names = {{.until = wait.start + 1, .name = "sh"}};
  EXPECT_EQ(line().find("sh (11) waited"), 0u) << "as it was named then";
  wait.start++;
  EXPECT_EQ(line().find("app (11) waited"), 0u);
}

TEST_F(WaitLines, IdleCausesAreListedWithTheirTimes) {
  wait.idle.causes = {{1000, 0, 30'000}};
  const auto text = [&] { return idle_wait_line({path, info, catalog, *stacks, why}, wait); };
  EXPECT_EQ(text(), "app (11) at 3.000001 s: 31.00 us of 1.000 ms (wakeup in flight 1.000 us, "
                    "affinity 30.00 us)");
  wait.idle.causes = {{0, 200, 0}};
  wait.starts = false;
  EXPECT_EQ(text(), "app (11) at 3.000001 s, and already before: 200 ns of 1.000 ms (scheduler 200 "
                    "ns)");
}

TEST_F(WaitLines, ABlockSaysWhoEndedIt) {
  const std::string start = "app (11) was blocked 1.000 ms from 3.000001 s";
  EXPECT_EQ(block(), start + ": woken by worker (12)");
  wait.block = {.call = FTRACE_CALL_NATIVE, .reason = FTRACE_OFFCPU_SLEEP};
  wait.by = hog;
  EXPECT_EQ(block(), start + " (read): woken by hog (77), not traced");
  wait.by = Kind::nobody;
  EXPECT_EQ(block(), start + " (read): nobody has woken it in this time");
  wait.by = {};
  EXPECT_EQ(block(), start + " (read): who woke it is not known");
  why.range.to = wait.end + 1;
  wait.ends = false;
  EXPECT_EQ(block(), start + " (read): its end was not seen");
}

} // namespace
} // namespace ovnitrace
