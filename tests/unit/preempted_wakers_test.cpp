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
  /// Preempts a thread. The holder runs for a part of the time.
  void preempt_by(uint32_t thread, uint64_t from, uint64_t to, uint32_t holder, uint64_t ns,
                  bool real_time = false) {
    begin(thread, from);
    wakers_.held(thread, holder, ns, real_time);
    end(thread, to);
  }
  void block(uint32_t waker, uint64_t from, uint64_t to, bool real_time = false) {
    Slice slice;
    slice.start = from;
    slice.end = to;
    wakers_.block(slice, waker, real_time);
  }
  /// woken, blocked, most, most_preempted.
  std::vector<uint64_t> sum() const {
    const PreemptedWakers::Sum sum = wakers_.sum();
    return {sum.woken, sum.blocked, sum.most, sum.most_preempted};
  }
  using Sum = std::vector<uint64_t>;
  uint32_t preemptor() const { return wakers_.sum().by; }

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

TEST_F(PreemptedWakersTest, APreemptorRanForHalfOfTheTimeInWhichOthersWaited) {
  EXPECT_EQ(preemptor(), kNone);
  preempt_by(1, 100, 110, 7, 10);
  preempt_by(1, 200, 210, 8, 10);
  preempt_by(1, 300, 400, 9, 100);
  block(1, 100, 110);
  block(1, 200, 210);
  EXPECT_EQ(preemptor(), 7u) << "the first of two; nobody waited when 9 ran";
  block(1, 300, 301);
  EXPECT_EQ(preemptor(), kNone) << "10, 10 and 1 of 21";
  block(1, 300, 319);
  EXPECT_EQ(preemptor(), kNone) << "19 of 39";
  block(1, 300, 320);
  EXPECT_EQ(preemptor(), 9u) << "20 of 40";
}

TEST_F(PreemptedWakersTest, WhoRanInAPartOfAPreemptionIsKnownIfOthersDidNotRunForSoLong) {
  preempt_by(1, 100, 200, 7, 70);
  block(1, 100, 159);
  EXPECT_EQ(preemptor(), kNone) << "others may have run for 30 of 59";
  block(1, 100, 160);
  EXPECT_EQ(preemptor(), 7u) << "30 of 60";
}

TEST_F(PreemptedWakersTest, AHolderThatRanForMostOfAPreemptionCounts) {
  begin(1, 100);
  wakers_.held(1, 7, 30, false);
  wakers_.held(1, 8, 30, false);
  wakers_.held(1, 7, 10, false);
  wakers_.held(2, 8, 40, false); // it is not preempted
  end(1, 170);
  wakers_.held(1, 8, 40, false);
  block(1, 100, 170);
  EXPECT_EQ(preemptor(), 7u) << "40 of 70";
}

TEST_F(PreemptedWakersTest, APreemptionThatHasNotEndedHasNoPreemptor) {
  begin(1, 100);
  wakers_.held(1, 7, 50, false);
  block(1, 100, 150);
  EXPECT_EQ(sum(), (Sum{50, 50, 1, 50}));
  EXPECT_EQ(preemptor(), kNone);
}

TEST_F(PreemptedWakersTest, APriorityIsInvertedIfThePreemptorAndABlockedThreadHaveRealTimeOnes) {
  preempt_by(0, 100, 110, 7, 10, true);
  block(0, 100, 110);
  EXPECT_FALSE(wakers_.sum().inverts) << "the blocked thread has none";
  block(0, 90, 100, true);
  EXPECT_FALSE(wakers_.sum().inverts) << "it was blocked before";
  block(0, 109, 110, true);
  EXPECT_TRUE(wakers_.sum().inverts);
  preempt_by(1, 200, 220, 7, 20);
  block(1, 200, 220, true);
  EXPECT_EQ(sum(), (Sum{41, 31, 1, 20}));
  EXPECT_FALSE(wakers_.sum().inverts) << "the preemptor has none";
}

} // namespace
} // namespace ovnitrace
