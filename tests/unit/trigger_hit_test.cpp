// SPDX-License-Identifier: BSD-2-Clause
// Which wait ended when a trigger hit: emulator/why/trigger_hit.
#include "emulator/why/trigger_hit.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ovnitrace {
namespace {

constexpr uint64_t kMs = 1'000'000;

class TriggerHitTest : public testing::Test {
protected:
  TriggerHitTest() {
    catalog_.hosts.resize(2);
    for (const auto &[host, tid] : {std::pair(0, 7), std::pair(1, 7), std::pair(1, 8)}) {
      catalog_.threads.emplace_back().host = uint32_t(host);
      catalog_.threads.back().tid = uint32_t(tid);
    }
  }
  void mark(uint32_t host, uint64_t time, const std::string &text) {
    catalog_.hosts[host].marks.push_back({time, text});
  }
  TriggerHit hit(TimeRange range = {0, 1000 * kMs}) const { return {catalog_, range, shown_}; }
  static Slice slice(uint32_t thread, uint64_t end, uint64_t start = 0) {
    Slice slice;
    slice.thread = thread;
    slice.state = ThreadState::Warming;
    slice.start = start;
    slice.end = end;
    return slice;
  }
  /// The threads of whose waits, or blocks, one that ends at the hit is it.
  std::vector<uint32_t> threads(TimeRange range = {0, 1000 * kMs}, bool is_block = false) const {
    std::vector<uint32_t> all;
    for (uint32_t thread = 0; thread < catalog_.threads.size(); thread++)
      if (TriggerHit one = hit(range); one.takes(slice(thread, one.time()), is_block))
        all.push_back(thread);
    return all;
  }
  using Threads = std::vector<uint32_t>;

  Catalog catalog_;
  std::vector<uint8_t> shown_ = {1, 1, 1};
};

TEST_F(TriggerHitTest, IsTheLastMarkOfAThreadInTheRange) {
  EXPECT_TRUE(threads().empty()) << "no mark";
  mark(0, 10 * kMs, "latency 7.200 ms of a(7)");
  mark(1, 20 * kMs, "preempted 7.200 ms of a b of (c)(8)");
  mark(1, 30 * kMs, "idle-while-waiting 7.200 ms of a(7)");
  EXPECT_EQ(threads(), Threads{1});
  EXPECT_EQ(hit().time(), 30 * kMs);
  EXPECT_EQ(hit({0, 30 * kMs}).time(), 30 * kMs);
  EXPECT_EQ(threads({0, 30 * kMs - 1}), Threads{2});
  EXPECT_EQ(threads({0, 20 * kMs - 1}), Threads{0});
  EXPECT_EQ(threads({10 * kMs, 15 * kMs}), Threads{0});
  EXPECT_TRUE(threads({10 * kMs + 1, 15 * kMs}).empty());
  shown_[1] = 0;
  EXPECT_EQ(threads(), Threads{2});
}

TEST_F(TriggerHitTest, OtherMarksAreOfNoThread) {
  for (const char *text : {"late 7.200 ms of a(7)", "latency 7.200 ms of a(7", "latency of 7",
                           "latency (7) of a", "latency 7 ms of a(x)", "latency 7 ms of a()",
                           "latency 7 ms of a(99)", "a latency 7 ms of a(7)"})
    mark(0, kMs, text);
  EXPECT_TRUE(threads().empty());
}

TEST_F(TriggerHitTest, ABlockIsNoWaitForACpu) {
  mark(0, 10 * kMs, "blocked 7.200 ms of a(7)");
  EXPECT_TRUE(threads().empty());
  EXPECT_EQ(threads({0, 20 * kMs}, true), Threads{0});
  mark(0, 11 * kMs, "latency 7.200 ms of a(7)");
  EXPECT_TRUE(threads({0, 20 * kMs}, true).empty());
}

TEST_F(TriggerHitTest, TheWaitThatEndsNearestIsIt) {
  mark(0, 10 * kMs, "latency 7.200 ms of a(7)");
  TriggerHit one = hit();
  EXPECT_FALSE(one.takes(slice(0, 9 * kMs), false)) << "1 ms is too far";
  EXPECT_TRUE(one.takes(slice(0, 9 * kMs + 1), false));
  EXPECT_FALSE(one.takes(slice(0, 11 * kMs - 1), false)) << "not nearer";
  EXPECT_TRUE(one.takes(slice(0, 11 * kMs - 2), false));
  EXPECT_TRUE(one.takes(slice(0, 10 * kMs), false));
  EXPECT_FALSE(one.takes(slice(0, 10 * kMs), false));
}

TEST_F(TriggerHitTest, BelongsToTheThrottlingBeforeIt) {
  mark(0, 10 * kMs, "latency 7.200 ms of a(7)");
  TriggerHit one = hit();
  Slice throttled = slice(0, 5 * kMs, 3 * kMs), refilled = slice(0, 10 * kMs, 5 * kMs);
  throttled.state = refilled.state = ThreadState::Cooling;
  throttled.reason = FTRACE_OFFCPU_THROTTLED;
  refilled.reason = FTRACE_OFFCPU_REFILLED;
  EXPECT_FALSE(one.takes(throttled, false));
  EXPECT_TRUE(one.takes(refilled, false));
  ASSERT_TRUE(one.throttled_before(refilled));
  EXPECT_EQ(one.throttled_before(refilled)->start, 3 * kMs);
  refilled.start++;
  EXPECT_FALSE(one.throttled_before(refilled));
  refilled.start--;
  refilled.reason = FTRACE_OFFCPU_PREEMPTED;
  EXPECT_FALSE(one.throttled_before(refilled));
}

} // namespace
} // namespace ovnitrace
