// SPDX-License-Identifier: BSD-2-Clause
// `ovnitrace why`: whatever happens in a trace, the sums are those of a slow second count.
#include "emulator/summary/summarizer.h"
#include "emulator/why/cause_names.h"
#include "emulator/why/explainer.h"
#include "tests/unit/support/cases.h"
#include "tests/unit/support/naive_why.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <ovnitrace/control.h>

#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace ovnitrace {
namespace {

using test::CollectingSink;
using test::NaiveWaits;
using test::NaiveWhy;
using test::TempDir;
using test::TraceBuilder;

constexpr uint64_t kStart = 100;
constexpr uint16_t kThreads = 6, kCpus = 2;

/// Makes waits of a few threads on fewer CPUs, legal or not. Returns the end of the trace, ns.
uint64_t random_waits(TraceBuilder &trace, std::mt19937 &random, bool losses, bool holders,
                      int events) {
  uint64_t time = kStart;
  for (uint16_t cpu = 0; cpu < kCpus; cpu++) {
    auto &chunk = trace.cpu(cpu).at(time).start();
    for (uint16_t i = 1; i <= kThreads; i++)
      chunk.id(i, i, 1 + i % 2, "thread", i == 3 ? kStart + random() % 300 : 0);
  }
  constexpr uint32_t reasons[] = {FTRACE_OFFCPU_YIELDED, FTRACE_OFFCPU_PREEMPTED,
                                  FTRACE_OFFCPU_THROTTLED};
  for (int i = 0; i < events; i++) {
    auto &chunk =
        trace.cpu(uint16_t(random() % kCpus)).at(time += random() % (events > 1000 ? 3 : 20));
    const uint16_t thread = uint16_t(1 + random() % kThreads);
    // 98 and 99 are not traced.
    const uint32_t nexts[] = {0, uint32_t(1 + random() % kThreads), 98, 99};
    const uint32_t next = nexts[random() % 4];
    if (holders && random() % 3 == 0) {
      chunk.record(FTrace_EXT_holder, uint16_t(random() % (kCpus + 1)), random() % 2 ? 0 : 98);
      continue;
    }
    if (holders && random() % 8 == 0) {
      const uint32_t what = random() % 3 ? CONTROL_START : CONTROL_STOP;
      chunk.record(FTrace_EXT_region, thread, what << FTRACE_REGION_EVENT_SHIFT);
      continue;
    }
    switch (random() % (losses ? 10 : 9)) {
    case 0:
    case 1:
    case 2:
      chunk.dispatch(thread);
      break;
    case 3:
    case 4:
      chunk.epilogue(thread, next, reasons[random() % 3]);
      break;
    case 5:
      chunk.sleep(thread, next);
      break;
    case 6:
      random() % 4 ? chunk.activate(thread, next, random() % 4 ? 0 : FTRACE_OFFCPU_EXHAUSTED << 4)
                   : chunk.record(FTrace_EXT_refill, thread);
      break;
    case 7:
      chunk.migrate(thread, random() % (kCpus + 1)); // one of them is in no trace
      break;
    case 8:
      random() % 4 ? chunk.snapshot(thread, random() % 6, random() % kCpus, reasons[random() % 3])
                   : chunk.end(thread);
      break;
    case 9:
      random() % 2 ? chunk.blackout_start() : chunk.blackout_end(1);
      break;
    }
  }
  for (uint16_t cpu = 0; cpu < kCpus; cpu++)
    trace.cpu(cpu).at(time).stop();
  return time;
}

/// Spins count as yields: the naive ones do not tell them apart. `of_all`: of all threads together,
/// as the naive ones of tid 0.
NaiveWaits waits_of(const Catalog &catalog, const std::vector<WaitSum> &sums, bool of_all) {
  NaiveWaits waits;
  for (const WaitSum &sum : sums) {
    const uint32_t tid = tid_of(catalog, sum.holder);
    const Culprit::Kind kind = sum.holder.kind();
    const WaitKind kind_of_wait = sum.kind == WaitKind::spin ? WaitKind::yield : sum.kind;
    waits[{of_all ? 0 : catalog.threads[sum.thread].tid, wait_word(kind_of_wait),
           kind == Culprit::Kind::idle     ? "idle"
           : kind == Culprit::Kind::unseen ? "unseen"
           : tid == kNone                  ? "lost"
                                           : std::to_string(tid)}] += sum.ns;
  }
  return waits;
}

NaiveWaits together(const NaiveWaits &waits) {
  NaiveWaits all;
  for (const auto &[key, ns] : waits)
    all[{0, std::get<1>(key), std::get<2>(key)}] += ns;
  return all;
}

TEST(WhyProperty, AgreesWithASlowSecondCount) {
  std::mt19937 random(12);
  std::map<std::string, uint64_t> seen; // the test is worth nothing if it meets few cases
  for (unsigned round = 0; round < test::cases(50); round++) {
    TempDir dir;
    TraceBuilder trace(dir.path());
    const bool holders = round % 3 == 1;
    trace.json(fmt::format(R"({{"version": 1, "all_threads": {}, "cpu_holders": {}}})",
                           round % 2 == 1, holders));
    // In some so many switches that not all are remembered.
    const int events = round % 50 == 49 ? 24000 : 120;
    const uint64_t length = random_waits(trace, random, round % 5 == 0, holders, events) - kStart;
    trace.write();
    Cut cut;
    if (round % 4 >= 2) {
      cut.from = random() % (length + 1);
      cut.to = cut.from + random() % (length - cut.from + 1);
      cut.tids = {1, 2, 3};
    }
    CollectingSink sink;
    const auto source = open_trace({{dir.path()}}, sink);
    const Catalog &catalog = source->catalog();
    const Explanation why = explain(*source, cut);
    NaiveWaits expected = NaiveWhy(dir.path(), why.range.from, why.range.to).waits;
    std::erase_if(expected, [&](const auto &entry) {
      return !cut.tids.empty() && std::get<0>(entry.first) > 3;
    });
    ASSERT_EQ(waits_of(catalog, why.waits, false), expected) << "round " << round;
    ASSERT_EQ(waits_of(catalog, why.held, true), together(expected)) << "round " << round;
    for (const auto &[key, ns] : expected)
      seen[std::get<1>(key)] += ns, seen[std::get<2>(key)] += ns;

    const auto again = open_trace({{dir.path()}}, sink);
    const Summary summary = summarize(*again, cut);
    std::vector<uint64_t> blocked(catalog.threads.size());
    for (const BlockSum &sum : why.blocks)
      blocked[sum.thread] += sum.ns;
    for (size_t t = 0; t < catalog.threads.size(); t++) {
      ASSERT_EQ(why.threads[t].life() + why.threads[t].outside, summary.threads[t].alive());
      ASSERT_EQ(why.threads[t].running, summary.threads[t].running());
      ASSERT_EQ(why.threads[t].blocked, blocked[t]);
    }
    for (const LongWait &wait : why.longest_waits) {
      const uint64_t held =
          std::accumulate(wait.holders.begin(), wait.holders.end(), uint64_t(0),
                          [](uint64_t sum, const LongWait::Part &part) { return sum + part.ns; });
      ASSERT_LE(held, wait.length());
      ASSERT_EQ(held < wait.length(), wait.more_holders);
    }
  }
  for (const char *what : {"wakeup", "preemption", "yield", "throttling", "refill", "unknown",
                           "idle", "unseen", "lost", "1", "99"})
    EXPECT_GT(seen[what], 250u) << what;
}

} // namespace
} // namespace ovnitrace
