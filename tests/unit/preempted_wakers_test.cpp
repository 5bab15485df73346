// SPDX-License-Identifier: BSD-2-Clause
// How long threads waited for a waker that was preempted: emulator/why/preempted_wakers.
#include "emulator/why/preempted_wakers.h"

#include <gtest/gtest.h>

#include <vector>

namespace ovnitrace {
namespace {

class PreemptedWakersTest : public testing::Test {
protected:
  void preempt(uint32_t thread, uint64_t from, uint64_t to) {
    begin(thread, from);
    end(thread, to);
  }
  void begin(uint32_t thread, uint64_t time) {
    wakers_.change(thread, {ThreadState::Running, ThreadState::Cooling, 0, 0}, time, true);
  }
  void end(uint32_t thread, uint64_t time) {
    wakers_.change(thread, {ThreadState::Cooling, ThreadState::Running, 0, 0}, time, false);
  }
  void block(uint32_t waker, uint64_t from, uint64_t to) {
    Slice slice;
    slice.start = from;
    slice.end = to;
    wakers_.block(slice, waker);
  }
  /// woken, blocked, most, most_preempted.
  std::vector<uint64_t> sum() const {
    const PreemptedWakers::Sum sum = wakers_.sum();
    return {sum.woken, sum.blocked, sum.most, sum.most_preempted};
  }
  using Sum = std::vector<uint64_t>;

  PreemptedWakers wakers_{3};
};

TEST_F(PreemptedWakersTest, OnlyTheTimeInBothCounts) {
  EXPECT_EQ(sum(), (Sum{0, 0, kNone, 0}));
  preempt(1, 100, 130);
  preempt(1, 150, 160);
  block(1, 50, 100);
  EXPECT_EQ(sum(), (Sum{50, 0, kNone, 0})) << "it ended where the preemption begins";
  block(1, 120, 155);
  EXPECT_EQ(sum(), (Sum{85, 15, 1, 15}));
  block(2, 100, 160);
  EXPECT_EQ(sum(), (Sum{145, 15, 1, 15})) << "another waker";
}

TEST_F(PreemptedWakersTest, APreemptionIsBlamedOnceForThreadsThatWaitTogether) {
  preempt(2, 100, 130);
  block(2, 120, 140);
  block(2, 110, 140);
  block(2, 125, 140);
  EXPECT_EQ(sum(), (Sum{65, 35, 2, 20}));
}

TEST_F(PreemptedWakersTest, TheOneWithTheLongestTimeIsNamed) {
  preempt(0, 100, 110);
  preempt(1, 100, 130);
  preempt(2, 100, 130);
  for (const uint32_t waker : {0, 1, 2})
    block(waker, 90, 140);
  EXPECT_EQ(sum(), (Sum{150, 70, 1, 30})) << "the first of two";
}

TEST_F(PreemptedWakersTest, APreemptionThatHasNotEndedLastsUntilTheEnd) {
  begin(1, 100);
  wakers_.change(1, {ThreadState::Cooling, ThreadState::Cooling, 0, 1}, 120, false);
  block(1, 90, 150);
  EXPECT_EQ(sum(), (Sum{60, 50, 1, 50})) << "it waits on another CPU now";
}

TEST_F(PreemptedWakersTest, TheLast32PreemptionsAreKnown) {
  for (uint64_t n = 0; n < 33; n++)
    preempt(1, 100 * n, 100 * n + 10);
  block(1, 0, 10);
  EXPECT_EQ(sum(), (Sum{10, 0, kNone, 0})) << "the 33rd last";
  block(1, 100, 110);
  block(1, 3200, 3210);
  EXPECT_EQ(sum(), (Sum{30, 20, 1, 20}));
}

} // namespace
} // namespace ovnitrace
