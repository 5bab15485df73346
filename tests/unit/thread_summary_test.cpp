// SPDX-License-Identifier: BSD-2-Clause
// Adding the numbers of one thread to those of another.
#include "emulator/summary/summary.h"

#include <gtest/gtest.h>

#include <array>

namespace ovnitrace {
namespace {

TEST(Spans, KnowTheLongestAndTheFirstOfEqualOnes) {
  Spans spans;
  spans.add(100, 110);
  spans.add(200, 230);
  spans.add(300, 330);
  EXPECT_EQ(spans.count, 3u);
  EXPECT_EQ(spans.time, 70u);
  EXPECT_EQ(spans.max, 30u);
  EXPECT_EQ(spans.max_at, 230u);
  Spans none, empty;
  empty.add(50, 50);
  EXPECT_EQ(empty.max_at, 50u);
  spans.add(none);
  EXPECT_EQ(spans.max_at, 230u);
  Spans equal;
  equal.add(0, 30);
  spans.add(equal);
  EXPECT_EQ(spans.max_at, 230u) << "no longer than the first";
  Spans longer;
  longer.add(1000, 1031);
  spans.add(longer);
  EXPECT_EQ(spans.count, 5u);
  EXPECT_EQ(spans.time, 131u);
  EXPECT_EQ(spans.max, 31u);
  EXPECT_EQ(spans.max_at, 1031u);
  none.add(empty);
  EXPECT_EQ(none.max_at, 50u);
}

/// Numbers that differ, so that no two can be mixed up.
ThreadSummary numbered(uint64_t n) {
  ThreadSummary one;
  for (size_t state = 0; state < one.time.size(); state++)
    one.time[state] = n * (100 + state);
  one.outside = n * 2;
  one.preempted = n * 3;
  one.yielded = n * 5;
  one.throttled = n * 7;
  one.voluntary = n * 11;
  one.wakeups = n * 13;
  one.migrations = n * 17;
  one.latency.add(n * 19);
  one.latency_max_at = n * 23;
  one.mutex_waits.add(0, n * 29);
  one.waits_given_up = n * 31;
  one.throttling.add(0, n * 37);
  one.gate = n * 41;
  one.idle_known = n * 43;
  one.idle = {{n * 47, n * 53, n * 59}};
  one.found_waiting = n * 61;
  one.late.add(0, n * 67);
  one.budgets = n * 71;
  one.budgets_used_up = n * 73;
  return one;
}

TEST(ThreadSummary, AddsEachNumberOfAnotherThread) {
  ThreadSummary sum = numbered(1);
  sum.add(numbered(10));
  for (size_t state = 0; state < sum.time.size(); state++)
    EXPECT_EQ(sum.time[state], 11 * (100 + state));
  EXPECT_EQ(sum.outside, 22u);
  EXPECT_EQ(sum.preempted, 33u);
  EXPECT_EQ(sum.yielded, 55u);
  EXPECT_EQ(sum.throttled, 77u);
  EXPECT_EQ(sum.voluntary, 121u);
  EXPECT_EQ(sum.switches(), 286u);
  EXPECT_EQ(sum.wakeups, 143u);
  EXPECT_EQ(sum.migrations, 187u);
  EXPECT_EQ(sum.latency.count(), 2u);
  EXPECT_EQ(sum.latency.max(), 190u);
  EXPECT_EQ(sum.latency_max_at, 230u) << "of the longer latency";
  EXPECT_EQ(sum.mutex_waits.time, 319u);
  EXPECT_EQ(sum.waits_given_up, 341u);
  EXPECT_EQ(sum.throttling.time, 407u);
  EXPECT_EQ(sum.gate, 451u);
  EXPECT_EQ(sum.idle_known, 473u);
  EXPECT_EQ(sum.idle.ns, (std::array<uint64_t, 3>{517, 583, 649}));
  EXPECT_EQ(sum.found_waiting, 671u);
  EXPECT_EQ(sum.late.time, 737u);
  EXPECT_EQ(sum.budgets, 781u);
  EXPECT_EQ(sum.budgets_used_up, 803u);
  sum.add(numbered(10));
  EXPECT_EQ(sum.latency_max_at, 230u);
  ThreadSummary with_none;
  with_none.latency_max_at = 5;
  ThreadSummary other = numbered(2);
  other.add(with_none);
  EXPECT_EQ(other.latency_max_at, 46u) << "another without a wakeup has no longest latency";
  EXPECT_EQ(numbered(1).alive() - numbered(1).recorded(), 2u + 41);
}

} // namespace
} // namespace ovnitrace
