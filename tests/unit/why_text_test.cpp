// SPDX-License-Identifier: BSD-2-Clause
// `ovnitrace why`: the parts of its text that only some traces have, from explanations made by
// hand.
#include "emulator/why/why_report.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/count_in.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <gtest/gtest.h>
#include <ovnitrace/ftrace_codes.h>

#include <string>

namespace ovnitrace {
namespace {

using Kind = Culprit::Kind;
constexpr uint64_t kMs = 1'000'000;

/// Two threads of a process; 77 is not traced. The range is 200 ms, from the start of the trace.
class WhyText : public ::testing::Test {
protected:
  WhyText() {
    catalog.hosts = {{"node"}};
    catalog.hosts[0].peers = {{.tid = 77, .pid = 77, .name = "hog"}};
    catalog.hosts[0].machine = info.machine = "x86_64";
    catalog.cpus = {{.index = 0, .host = 0}};
    catalog.begin = 1000;
    catalog.threads.resize(2);
    for (uint32_t t = 0; t < 2; t++) {
      catalog.threads[t].tid = 11 + t;
      catalog.threads[t].pid = 11;
      catalog.threads[t].name = t ? "worker" : "app";
    }
    why.shown = {1, 1};
    why.range = {1000, 1000 + 200 * kMs};
    why.recorded = 200 * kMs;
    why.threads.resize(2);
    why.threads[0].running = why.threads[1].running = 100 * kMs;
  }
  std::string text(const WhyOptions &options = {}) {
    const Stacks stacks(catalog, sink);
    return why_text({path, info, catalog, stacks, why}, options);
  }
  bool has(const std::string &part, const WhyOptions &options = {}) {
    return text(options).find(part) != std::string::npos;
  }
  size_t count(const std::string &part, const WhyOptions &options = {}) {
    return test::count_in(text(options), part);
  }
  /// Returns the line about the threads and their time.
  std::string head() {
    const std::string all = text();
    const size_t from = all.find("\n\n") + 2;
    return all.substr(from, all.find("\n\n", from) - from);
  }

  const std::string path = "trace";
  const Culprit worker = {Kind::thread, 1}, hog = {Kind::untraced, 77};
  TraceInfo info;
  Catalog catalog;
  test::CollectingSink sink;
  Explanation why;
};

TEST_F(WhyText, TheLineOfOneThreadSaysHowLongItWasThere) {
  why.shown = {1, 0};
  why.threads[0].running = 200 * kMs;
  EXPECT_EQ(head(), "app (11), 200.0 ms");
  why.threads[0].running--;
  EXPECT_EQ(head(), "app (11), 200.0 ms; 100 % is the time it was alive, 200.0 ms");
  why.threads[0].outside = 1;
  EXPECT_EQ(head(), "app (11), 200.0 ms; 100 % is its time in the regions of --control, 200.0 ms");
  why.range.from += 3;
  EXPECT_EQ(head(),
            "app (11), 200.0 ms from 3 ns on; 100 % is its time in the regions of --control, "
            "200.0 ms");
}

TEST_F(WhyText, TheLineOfSeveralThreadsSaysWhoIsLeftOutAbove) {
  EXPECT_EQ(head(), "2 threads, 200.0 ms; 100 % is the sum of their lives, 200.0 ms");
  why.threads[1] = {.running = 100'000, .blocked = 100 * kMs - 100'000};
  EXPECT_EQ(head(), "2 threads, 200.0 ms; 100 % is the sum of their lives, 200.0 ms\n"
                    "(the sentences above leave out threads that slept nearly all the time: 100 % "
                    "is 100.0 ms there)");
  why.threads[1] = {.running = 100'001, .blocked = 100 * kMs - 100'001};
  EXPECT_EQ(head(), "2 threads, 200.0 ms; 100 % is the sum of their lives, 200.0 ms");
}

TEST_F(WhyText, WaitsDuringWhichACpuWasIdleAreListed) {
  EXPECT_FALSE(has("was idle longest"));
  LongWait wait = {.thread = 1, .start = 3000, .end = 1'003'000};
  wait.starts = true;
  wait.idle.causes = {{0, 31'000, 0}};
  why.idle_waits.assign(12, wait);
  EXPECT_TRUE(has("\nThe waits during which a CPU was idle longest:\n"
                  "  worker (12) at 0.000002 s: 31.00 us of 1.000 ms (scheduler 31.00 us)\n"))
      << text();
  EXPECT_EQ(count("  worker (12) at 0.000002 s: "), 10u);
  EXPECT_EQ(count("  worker (12) at 0.000002 s: ", {.top = 11}), 11u);
  EXPECT_EQ(count("  worker (12) at 0.000002 s: ", {.top = 0}), 12u);
  why.idle_waits[0].starts = false;
  EXPECT_TRUE(has(":\n  worker (12) at 0.000002 s, and already before: 31.00 us of 1.000 ms"))
      << text();
}

TEST_F(WhyText, TenOfTheWakersAreListed) {
  for (uint64_t n = 0; n < 12; n++)
    why.wakes.push_back({.thread = 0, .waker = worker, .count = 20 - n});
  EXPECT_EQ(count("\nworker (12)  app (11)  "), 10u) << text();
  EXPECT_EQ(count("\nworker (12)  app (11)  ", {.top = 3}), 3u);
  EXPECT_EQ(count("\nworker (12)  app (11)  ", {.top = 0}), 12u);
  EXPECT_TRUE(has("\nworker (12)  app (11)     20           -          -\n"))
      << "no wait was measured";
}

TEST_F(WhyText, AFutexNamesWhoEndedMostOfItsWaits) {
  catalog.threads[1].earlier_names = {{.until = 5000, .name = "sh"}};
  const Culprit former = worker.named_at(catalog, 0, 4999);
  why.locks = {{.thread = 0, .futex = 16, .waker = hog, .count = 1, .ns = 40, .max = 40},
               {.thread = 0, .futex = 16, .waker = former, .count = 1, .ns = 30, .max = 30},
               {.thread = 1, .futex = 16, .waker = worker, .count = 1, .ns = 20, .max = 20}};
  EXPECT_TRUE(has("\n0x10   11       sh (12)                   2      3  90 ns  40 ns\n"))
      << "50 ns under two names" << text();
  for (LockSum &sum : why.locks)
    sum.inherits = true;
  EXPECT_TRUE(has("\n0x10 (PI)  11       sh (12), who had it        2      3  90 ns  40 ns\n"))
      << text();
  why.locks[0].ns = 51;
  EXPECT_TRUE(has("\n0x10 (PI)  11       hog (77), not traced        2      3  101 ns  40 ns\n"))
      << "it is not a thread of the trace" << text();
  why.locks = {{.thread = 0, .futex = 32, .waker = Kind::nobody, .count = 1, .ns = 1, .max = 1}};
  EXPECT_TRUE(has("\n0x20   11       nobody: it did not block        1      1  1 ns  1 ns\n"))
      << text();
}

TEST_F(WhyText, EachThreadThatEndedWaitsForAFutexCountsAlone) {
  const Culprit app = {Kind::thread, 0};
  why.locks = {{.thread = 1, .futex = 16, .waker = app, .count = 1, .ns = 30, .max = 30},
               {.thread = 0, .futex = 16, .waker = worker, .count = 1, .ns = 20, .max = 20},
               {.thread = 0, .futex = 16, .waker = worker, .count = 1, .ns = 15, .max = 15}};
  EXPECT_TRUE(has("\n0x10   11       worker (12)               2      3  65 ns  30 ns\n"))
      << text();
}

TEST_F(WhyText, TenFutexesAreListed) {
  for (uint32_t n = 0; n < 12; n++)
    why.locks.push_back({.thread = 0, .futex = n + 1, .waker = worker, .count = 1, .ns = 20 - n});
  EXPECT_EQ(count("\n0x"), 10u);
  EXPECT_EQ(count("\n0x", {.top = 11}), 11u);
  EXPECT_EQ(count("\n0x", {.top = 0}), 12u);
}

TEST_F(WhyText, ATraceThatNamesOnlyTheFirstHolderSaysSo) {
  why.held = {{.thread = 0, .kind = WaitKind::preemption, .holder = hog, .ns = 5}};
  EXPECT_FALSE(has("This trace names only"));
  why.held.push_back({.thread = 0, .kind = WaitKind::preemption, .holder = Kind::unseen, .ns = 5});
  EXPECT_TRUE(has("\nThis trace names only the first thread that got a CPU from a traced one, not "
                  "those that followed.\nRecord it again to see all who had the CPU.\n"))
      << text();
}

/// At least 10 ms, and a tenth of the time in which threads ran or waited.
TEST_F(WhyText, ALongWaitAsksForIdleStates) {
  info.families = "sched";
  const auto asks = [&](uint64_t running, uint64_t waiting, uint64_t spinning = 0) {
    why.threads[0] = {.running = running, .waiting = waiting};
    why.threads[0].spinning = spinning;
    why.threads[1] = {};
    return has("\nNot known: whether a CPU was idle while threads waited. Record with -a or "
               "--filter +power.\n");
  };
  EXPECT_TRUE(asks(90 * kMs, 10 * kMs));
  EXPECT_FALSE(asks(80 * kMs, 10 * kMs - 1));
  EXPECT_FALSE(asks(90 * kMs + 10, 10 * kMs));
  EXPECT_FALSE(asks(90 * kMs, 10 * kMs, 1)) << "a spin loses nothing";
  info.all_threads = true;
  EXPECT_FALSE(asks(90 * kMs, 10 * kMs));
}

TEST_F(WhyText, LongBlocksThatInterruptsEndedAskForTheirFamilies) {
  const Culprit interrupt(Kind::interrupt, uint32_t(InterruptSource::other));
  const auto asks = [&](uint64_t blocked, uint64_t by_interrupts, const std::string &families) {
    info.families = families;
    why.threads[0] = {.blocked = blocked};
    why.threads[1] = {};
    why.blocks = {{.thread = 0, .waker = interrupt, .ns = by_interrupts - 1, .count = 1},
                  {.thread = 0, .waker = interrupt, .ns = 1, .count = 1},
                  {.thread = 0, .waker = hog, .ns = blocked - by_interrupts, .count = 1}};
    const std::string all = text(), start = "Record with --filter +";
    const size_t at = all.find(start);
    return at == all.npos ? ""
                          : all.substr(at + start.size(), all.find(".\n", at) - at - start.size());
  };
  EXPECT_EQ(asks(100 * kMs, 10 * kMs, "sched,power"), "timer,irq");
  EXPECT_EQ(asks(100 * kMs, 10 * kMs, "sched,power,timer"), "irq");
  EXPECT_EQ(asks(100 * kMs, 10 * kMs, "sched,power,irq"), "timer");
  EXPECT_EQ(asks(100 * kMs, 10 * kMs, "sched,power,irq,timer"), "");
  EXPECT_EQ(asks(100 * kMs, 10 * kMs, ""), "") << "the trace does not say";
  EXPECT_EQ(asks(90 * kMs, 10 * kMs - 1, "sched,power"), "");
  EXPECT_EQ(asks(100 * kMs + 10, 10 * kMs, "sched,power"), "");
}

TEST_F(WhyText, BlockedTimesAreATreeOfTheirOwn) {
  const Block read = {.call = FTRACE_CALL_NATIVE, .reason = FTRACE_OFFCPU_SLEEP};
  why.threads[0].blocked = 7 * kMs;
  why.blocks = {{.thread = 0, .block = read, .waker = worker, .ns = 7 * kMs, .count = 3}};
  const Stacks stacks(catalog, sink);
  const std::string all = blocked_text({path, info, catalog, stacks, why}, 5, 100);
  EXPECT_EQ(all.find("running"), std::string::npos) << all;
  EXPECT_NE(all.find("\nblocked "), std::string::npos) << all;
  EXPECT_NE(all.find("\n  read "), std::string::npos) << all;
  EXPECT_NE(all.find("\n    woken by: worker (12) "), std::string::npos) << all;
}

TEST_F(WhyText, HoldersWithoutANameAreCounted) {
  why.threads[0].waiting = 5 * kMs;
  why.held = {
      {.thread = 0, .kind = WaitKind::preemption, .holder = {Kind::untraced, 98}, .ns = kMs},
      {.thread = 0, .kind = WaitKind::preemption, .holder = {Kind::untraced, 99}, .ns = kMs}};
  EXPECT_TRUE(has("\n    held by: without a name (2 threads), not traced ")) << text();
}

/// The first stack has only the function that blocked, the second one its caller too.
TEST_F(WhyText, ATreeOfStacksSaysWhereNobodyCalled) {
  const test::TempDir dir;
  test::TraceBuilder(dir.path())
      .json(R"({"format": "ovnitrace", "version": 1, "options": {"stacks": "user"},
                "stack_files": [{"path": "/opt/app"}],
                "stack_frames": [{"file": 0, "function": "pop", "offset": 1},
                                 {"file": 0, "function": "main", "offset": 2}],
                "stacks": [{"user": [0]}, {"user": [0, 1]}]})")
      .write();
  catalog.hosts[0].stacks = dir.path();
  const Block read = {.call = FTRACE_CALL_NATIVE, .reason = FTRACE_OFFCPU_SLEEP};
  why.threads[0].blocked = 7 * kMs;
  why.blocks = {
      {.thread = 0, .block = read, .stack = 1, .waker = worker, .ns = 4 * kMs, .count = 5},
      {.thread = 0, .block = read, .stack = 2, .waker = worker, .ns = 2 * kMs, .count = 3},
      {.thread = 0, .block = read, .waker = worker, .ns = kMs, .count = 2}};
  const std::string all = text({.depth = 2});
  const size_t at = all.find("blocked  ");
  EXPECT_EQ(all.substr(at, all.find("\n\n", at) - at),
            R"(blocked                        7.000 ms   3.4 %
  read                         7.000 ms   3.4 %     10
    at: pop                    6.000 ms   2.9 %      8
      called by: nobody        4.000 ms   1.9 %      5
        woken by: worker (12)  4.000 ms   1.9 %      5
      called by: main          2.000 ms   1.0 %      3
        woken by: worker (12)  2.000 ms   1.0 %      3
    no stack                   1.000 ms   0.5 %      2
      woken by: worker (12)    1.000 ms   0.5 %      2)");
  why.locks = {{.thread = 0, .futex = 16, .waker = worker, .count = 1, .ns = 20, .max_stack = 2},
               {.thread = 0, .futex = 17, .waker = worker, .count = 1, .ns = 10}};
  const std::string locks = text();
  EXPECT_EQ(locks.substr(locks.find("FUTEX  ")),
            R"(FUTEX  PROCESS  MOST TIME ENDED BY  LONGEST WAIT AT  THREADS  WAITS   TIME  MAX
0x10   11       worker (12)         pop                    1      1  20 ns    0
0x11   11       worker (12)                                1      1  10 ns    0
)");
}

/// A signal ends a wait for a PI futex that another thread holds.
TEST_F(WhyText, WhoEndedAWaitThatWasGivenUpHeldNoLock) {
  const Culprit timer(Culprit::Kind::interrupt, uint32_t(InterruptSource::timer));
  why.locks = {
      {.thread = 0, .futex = 16, .waker = timer, .count = 3, .gave_up = 3, .ns = 90, .max = 40},
      {.thread = 0, .futex = 16, .waker = worker, .count = 2, .gave_up = 1, .ns = 20, .max = 15},
      {.thread = 0, .futex = 17, .waker = timer, .count = 1, .gave_up = 1, .ns = 10, .max = 10}};
  const std::string locks = text();
  EXPECT_EQ(locks.substr(locks.find("FUTEX  ")),
            R"(FUTEX  PROCESS  MOST TIME ENDED BY  THREADS  WAITS    TIME    MAX
0x10   11       worker (12)               1      5  110 ns  40 ns
0x11   11       a timer                   1      1   10 ns  10 ns
)");
}

} // namespace
} // namespace ovnitrace
