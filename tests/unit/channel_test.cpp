// SPDX-License-Identifier: BSD-2-Clause
// The sentences of the channels seed about states, stacks, enabling, dirty marks and punctual
// events; each test is named after one.
#include "emulator/core/channel_bank.h"
#include "tests/unit/support/collecting_rows.h"

#include <gtest/gtest.h>

namespace ovnitrace {
namespace {

using test::CollectingRows;
using test::Timeline;

class Channels : public ::testing::Test {
protected:
  Channels() : threads(2), cpus(1), bank(threads, cpus) {
    plain = bank.declare({.name = "plain", .label = "Plain", .thread_type = 10});
    other = bank.declare({.name = "other", .label = "Other", .thread_type = 11});
    tracked = bank.declare(
        {.name = "tracked", .label = "Tracked", .thread_type = 12, .thread_track = Track::running});
    bad = bank.declare({.name = "bad",
                        .label = "Bad",
                        .thread_type = 13,
                        .thread_track = Track::running,
                        .bad = 99});
  }
  /// Enables or disables the tracked channels of thread 0.
  void enable(bool on) {
    threads[0].state = on ? ThreadState::Running : ThreadState::Paused;
    bank.thread_changed(Track::running, 0);
  }
  void emit(uint64_t time) { bank.emit(time, out, cpu_out); }

  std::vector<Thread> threads;
  std::vector<Cpu> cpus;
  ChannelBank bank;
  CollectingRows out, cpu_out;
  ChannelId plain, other, tracked, bad;
};

TEST_F(Channels, AFixedStateOverridesThePreviousState) {
  bank.set(plain, 0, 3);
  emit(1);
  bank.set(plain, 0, 7);
  emit(2);
  EXPECT_EQ(out.timeline(0, 10), (Timeline{{1, 3}, {2, 7}}));
}

TEST_F(Channels, EmitsTheTopOfTheStack) {
  uint64_t time = 0;
  for (auto step : {+[](ChannelBank &b, ChannelId c) { b.push(c, 0, 1); },
                    +[](ChannelBank &b, ChannelId c) { b.push(c, 0, 2); },
                    +[](ChannelBank &b, ChannelId c) { b.pop(c, 0, 2); },
                    +[](ChannelBank &b, ChannelId c) { b.pop(c, 0, 1); }}) {
    step(bank, plain);
    emit(++time);
  }
  // "The channel will emit the following sequence of states: 0, 1, 2, 1, 0": the first 0 is what
  // every channel begins with, and is not emitted.
  EXPECT_EQ(out.values(0, 10), (std::vector<int64_t>{1, 2, 1, 0}));
}

TEST_F(Channels, PopChecksThatTheStackContainsTheExpectedState) {
  bank.push(plain, 0, 1);
  ChannelFault fault = bank.pop(plain, 0, 2);
  EXPECT_EQ(fault.kind, ChannelFault::wrong_value);
  EXPECT_EQ(fault.expected, 2);
  EXPECT_EQ(fault.found, 1);
  EXPECT_EQ(bank.value(plain, 0), 1) << "a value that is nowhere takes nothing off";
}

TEST_F(Channels, APopOfAnEmptyStackIsAFault) {
  EXPECT_EQ(bank.pop(plain, 0, 1).kind, ChannelFault::empty_stack);
  bank.push(plain, 0, 1);
  EXPECT_FALSE(bank.pop(plain, 0, 1));
  EXPECT_EQ(bank.pop(plain, 0, 1).kind, ChannelFault::empty_stack);
}

TEST_F(Channels, APopOfADeeperStateRemovesAllAboveIt) {
  for (int64_t v : {1, 2, 3})
    bank.push(plain, 0, v);
  EXPECT_EQ(bank.pop(plain, 0, 2).kind, ChannelFault::wrong_value);
  EXPECT_EQ(bank.value(plain, 0), 1);
  EXPECT_FALSE(bank.pop(plain, 0, 1));
  EXPECT_EQ(bank.value(plain, 0), 0);
}

TEST_F(Channels, AStackGoesBackToTheStateThatWasSetBeforeIt) {
  bank.set(plain, 0, 5);
  bank.push(plain, 0, 1);
  bank.pop(plain, 0, 1);
  EXPECT_EQ(bank.value(plain, 0), 5);
}

TEST_F(Channels, SetOverridesTheTopOfAStack) {
  bank.push(plain, 0, 1);
  bank.push(plain, 0, 2);
  bank.set(plain, 0, 9);
  EXPECT_EQ(bank.stack(plain, 0), (std::vector<int64_t>{1, 9}));
  EXPECT_FALSE(bank.pop(plain, 0, 9));
  EXPECT_EQ(bank.value(plain, 0), 1);
}

TEST_F(Channels, AStackIsBoundedAndItsOverflowIsPoppedToo) {
  for (size_t i = 1; i <= kMaxStackDepth; i++)
    ASSERT_FALSE(bank.push(plain, 0, int64_t(i)));
  EXPECT_EQ(bank.push(plain, 0, 1000).kind, ChannelFault::too_deep);
  EXPECT_EQ(bank.value(plain, 0), int64_t(kMaxStackDepth));
  EXPECT_FALSE(bank.pop(plain, 0, 1000));
  for (size_t i = kMaxStackDepth; i >= 1; i--)
    ASSERT_FALSE(bank.pop(plain, 0, int64_t(i)));
  EXPECT_EQ(bank.stack(plain, 0).size(), 0u);
}

TEST_F(Channels, StatesLeftOnStacksAreFound) {
  bank.push(plain, 1, 4);
  bank.push(other, 0, 5);
  bank.pop(other, 0, 5);
  std::vector<std::pair<ChannelId, uint32_t>> left;
  bank.for_each_left([&](ChannelId id, uint32_t row, const std::vector<int64_t> &stack) {
    left.push_back({id, row});
    EXPECT_EQ(stack, (std::vector<int64_t>{4}));
  });
  EXPECT_EQ(left, (std::vector<std::pair<ChannelId, uint32_t>>{{plain, 1}}));
}

TEST_F(Channels, ADisabledChannelEmitsItsBadstAndItsLastStateWhenItIsEnabledAgain) {
  enable(true);
  bank.set(tracked, 0, 3);
  bank.set(bad, 0, 4);
  emit(1);
  enable(false);
  emit(2);
  enable(true);
  emit(3);
  EXPECT_EQ(out.timeline(0, 12), (Timeline{{1, 3}, {2, 0}, {3, 3}}));
  EXPECT_EQ(out.timeline(0, 13), (Timeline{{1, 4}, {2, 99}, {3, 4}}));
}

TEST_F(Channels, AStateSetWhileDisabledIsKeptForWhenItIsEnabled) {
  bank.set(tracked, 0, 8);
  emit(1);
  EXPECT_TRUE(out.timeline(0, 12).empty());
  enable(true);
  emit(2);
  EXPECT_EQ(out.timeline(0, 12), (Timeline{{2, 8}}));
}

TEST_F(Channels, EmitCallsOnlyChannelsThatHaveBeenModified) {
  bank.set(plain, 0, 1);
  bank.set(other, 0, 1);
  emit(1);
  bank.set(other, 0, 2);
  emit(2);
  EXPECT_EQ(out.lines.size(), 3u);
  EXPECT_EQ(out.timeline(0, 10).size(), 1u);
}

TEST_F(Channels, AChannelEmitsOnceHoweverOftenItChanges) {
  for (int64_t v : {1, 2, 3})
    bank.set(plain, 0, v);
  emit(1);
  EXPECT_EQ(out.timeline(0, 10), (Timeline{{1, 3}}));
}

TEST_F(Channels, AChannelThatReturnsToItsValueEmitsNothing) {
  bank.set(plain, 0, 1);
  emit(1);
  bank.set(plain, 0, 2);
  bank.set(plain, 0, 1);
  emit(2);
  EXPECT_EQ(out.timeline(0, 10), (Timeline{{1, 1}}));
}

TEST_F(Channels, TheInitialZeroIsNotEmitted) {
  bank.set(plain, 0, 0);
  bank.set(tracked, 0, 0);
  emit(1);
  EXPECT_TRUE(out.lines.empty());
}

TEST_F(Channels, APunctualEventIsAStateOf1NsBeforeTheRestoredOne) {
  bank.set(plain, 0, 3);
  emit(10);
  bank.punctual(plain, 0, 42);
  emit(100);
  EXPECT_EQ(out.timeline(0, 10), (Timeline{{10, 3}, {99, 42}, {100, 3}}));
}

TEST_F(Channels, APunctualEventGoesBackToAStateSetInTheSameInstant) {
  bank.punctual(plain, 0, 42);
  bank.set(plain, 0, 5);
  emit(100);
  EXPECT_EQ(out.timeline(0, 10), (Timeline{{99, 42}, {100, 5}}));
}

TEST_F(Channels, ACpuWithoutAThreadToFollowShowsTheBadValue) {
  const ChannelId copied = bank.declare({.name = "copied",
                                         .label = "Copied",
                                         .thread_type = 14,
                                         .cpu_type = 15,
                                         .cpu_track = Track::running,
                                         .bad = 99});
  bank.set(copied, 0, 1);
  emit(10);
  EXPECT_EQ(cpu_out.timeline(0, 15), (Timeline{{10, 99}}));
}

TEST_F(Channels, PunctualEventsComeBeforeAllStatesOfTheirInstant) {
  bank.set(other, 0, 1);
  bank.punctual(plain, 1, 42);
  emit(100);
  std::vector<uint64_t> times;
  for (const CollectingRows::Line &line : out.lines)
    times.push_back(line.time);
  EXPECT_TRUE(std::is_sorted(times.begin(), times.end()));
}

TEST_F(Channels, APunctualEventAtTheVeryBeginningDoesNotGoBelowZero) {
  bank.punctual(plain, 0, 42);
  emit(0);
  EXPECT_EQ(out.timeline(0, 10), (Timeline{{0, 42}, {0, 0}}));
}

TEST_F(Channels, ASkippedInstantKeepsStatesAndForgetsPunctualEvents) {
  bank.set(plain, 0, 3);
  bank.punctual(other, 0, 42);
  bank.skip();
  emit(7);
  EXPECT_EQ(out.timeline(0, 10), (Timeline{{7, 3}}));
  EXPECT_TRUE(out.timeline(0, 11).empty());
}

TEST_F(Channels, AChannelThatIsNeverUsedHasNoRows) {
  EXPECT_FALSE(bank.used(plain));
  bank.set(plain, 0, 1);
  EXPECT_TRUE(bank.used(plain));
  EXPECT_FALSE(bank.used(other));
}

TEST_F(Channels, MoreThan64ChannelsAreKeptApart) {
  std::vector<ChannelId> ids;
  for (uint32_t i = 0; i < 150; i++)
    ids.push_back(bank.declare({.name = "c", .label = "C", .thread_type = 1000 + i}));
  for (uint32_t i = 0; i < 150; i++)
    bank.set(ids[i], i % 2, i + 1);
  emit(1);
  for (uint32_t i = 0; i < 150; i++)
    EXPECT_EQ(out.timeline(i % 2, 1000 + i), (Timeline{{1, i + 1}}));
}

TEST_F(Channels, AChannelDeclaredWhileOthersAreDirtyLosesNone) {
  bank.set(plain, 0, 1);
  for (int i = 0; i < 100; i++)
    bank.declare({.name = "c", .label = "C"});
  emit(1);
  EXPECT_EQ(out.timeline(0, 10), (Timeline{{1, 1}}));
}

// The state below the first push was never pushed: no pop takes it, and none fits it.
TEST_F(Channels, APopOfTheStateBelowTheStackTakesNothing) {
  bank.set(plain, 0, 5);
  bank.push(plain, 0, 1);
  const ChannelFault fault = bank.pop(plain, 0, 5);
  EXPECT_EQ(fault.kind, ChannelFault::wrong_value);
  EXPECT_EQ(fault.found, 1);
  EXPECT_EQ(bank.value(plain, 0), 1);
  EXPECT_FALSE(bank.pop(plain, 0, 1));
  EXPECT_EQ(bank.value(plain, 0), 5);
}

TEST_F(Channels, PunctualEventsOfOneInstantAreLimited) {
  for (size_t n = 0; n < kMostOfAnInstant + 2; n++)
    bank.punctual(plain, n % 2, int64_t(n + 1));
  emit(5);
  EXPECT_EQ(out.lines.size(), kMostOfAnInstant + 2) << "and each channel goes back to its value";
  EXPECT_EQ(out.lines[kMostOfAnInstant - 1].value, int64_t(kMostOfAnInstant));
  out.lines.clear();
  bank.punctual(plain, 0, 1);
  emit(9);
  EXPECT_EQ(out.timeline(0, 10), (Timeline{{8, 1}, {9, 0}})) << "the next instant has room";
}

TEST_F(Channels, AStackThatIsForgottenLeavesTheStateBelowIt) {
  bank.set(plain, 0, 5);
  bank.push(plain, 0, 1);
  bank.push(plain, 0, 2);
  bank.push(other, 1, 3);
  emit(1);
  bank.forget_stacks(kNone);
  emit(2);
  EXPECT_EQ(out.timeline(0, 10), (Timeline{{1, 2}, {2, 5}}));
  EXPECT_EQ(out.timeline(1, 11), (Timeline{{1, 3}, {2, 0}}));
  EXPECT_EQ(bank.stack(plain, 0).size(), 0u);
  EXPECT_FALSE(bank.pop(plain, 0, 2)) << "its push is forgotten, which is no fault";
}

// What may be missing is a push, of a value that is nowhere. One that lies deeper was pushed, and
// it is the pops of those above it that are missing.
TEST_F(Channels, WrongPopIsAFaultEvenIfAPushMayBeMissing) {
  bank.miss_pushes();
  for (int64_t v : {1, 2, 3})
    bank.push(plain, 0, v);
  EXPECT_FALSE(bank.pop(plain, 0, 9));
  EXPECT_EQ(bank.pop(plain, 0, 2).kind, ChannelFault::wrong_value);
  EXPECT_EQ(bank.value(plain, 0), 1);
}

// At the instant at which the thread gets or leaves its CPU.
TEST_F(Channels, APunctualEventIsSeenByTheStateThatTheThreadHasNow) {
  bank.set(tracked, 0, 1);
  emit(10);
  EXPECT_TRUE(out.timeline(0, 12).empty()) << "it does not run";
  enable(true);
  bank.punctual(tracked, 0, 42);
  emit(100);
  EXPECT_EQ(out.timeline(0, 12), (Timeline{{99, 42}, {100, 1}}));
  enable(false);
  bank.punctual(tracked, 0, 43);
  emit(200);
  EXPECT_EQ(out.timeline(0, 12), (Timeline{{99, 42}, {100, 1}, {200, 0}}));
}

TEST_F(Channels, AThreadThatIsAddedLaterStartsAsTheOthersDid) {
  bank.push(plain, 0, 1);
  bank.set(bad, 0, 5);
  emit(1);
  threads.emplace_back(); // may move all of them
  bank.add_thread();
  emit(2);
  EXPECT_EQ(out.timeline(2, 13), (Timeline{{2, 99}})) << "disabled, as for the others at 1";
  EXPECT_EQ(out.timeline(1, 13), (Timeline{{1, 99}}));
  bank.push(plain, 2, 8);
  bank.set(other, 2, 4);
  emit(3);
  EXPECT_EQ(out.timeline(2, 10), (Timeline{{3, 8}}));
  EXPECT_EQ(out.timeline(2, 11), (Timeline{{3, 4}}));
  EXPECT_EQ(bank.value(plain, 0), 1);
}

} // namespace
} // namespace ovnitrace
