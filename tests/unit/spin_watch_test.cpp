// SPDX-License-Identifier: BSD-2-Clause
// Which yields of a thread are a spin.
#include "emulator/slices/spin_watch.h"

#include <gtest/gtest.h>

#include <vector>

namespace ovnitrace {
namespace {

constexpr uint64_t kMs = 1'000'000;

/// One thread on each host. The hosts have these numbers of CPUs.
class SpinWatchTest : public ::testing::Test {
protected:
  explicit SpinWatchTest(const std::vector<uint32_t> &cpus = {1}) : watch(catalog_of(cpus)) {}

  static Catalog catalog_of(const std::vector<uint32_t> &cpus) {
    Catalog catalog;
    catalog.hosts.resize(cpus.size());
    for (uint32_t host = 0; host < cpus.size(); host++) {
      for (uint32_t n = 0; n < cpus[host]; n++)
        catalog.cpus.push_back({.index = n, .host = host});
      catalog.threads.emplace_back().host = host;
    }
    return catalog;
  }
  void runs(uint64_t at) {
    watch.change(0, {ThreadState::Cooling, ThreadState::Running, 0, 0}, at, false);
  }
  void leaves(uint64_t at, bool yields = true) {
    watch.change(0, {ThreadState::Running, ThreadState::Cooling, 0, 0}, at, yields);
  }

  SpinWatch watch;
};

TEST_F(SpinWatchTest, TheLongestRunBetweenTwoYieldsDependsOnTheCpusOfTheHost) {
  const std::vector<uint32_t> cpus = {0, 1, 2, 3, 4, 7, 8, 9, 64};
  const std::vector<uint64_t> limits = {1, 1, 2, 2, 3, 3, 4, 4, 4}; // ms
  for (const uint64_t less : {0, 1}) {
    watch = SpinWatch(catalog_of(cpus));
    for (uint32_t t = 0; t < cpus.size(); t++) {
      const auto change = [&](ThreadState from, ThreadState to, uint64_t at) {
        watch.change(t, {from, to, 0, 0}, at, to == ThreadState::Cooling);
      };
      change(ThreadState::Running, ThreadState::Cooling, 5);
      change(ThreadState::Cooling, ThreadState::Running, 10);
      change(ThreadState::Running, ThreadState::Cooling, 10 + limits[t] * kMs - less);
      EXPECT_EQ(watch.spins(t), less == 1) << cpus[t] << " CPUs";
    }
  }
}

TEST_F(SpinWatchTest, TheFirstYieldIsTheStartButNoSpinYet) {
  leaves(100);
  EXPECT_FALSE(watch.spins(0));
  EXPECT_FALSE(watch.has_spun(0));
  EXPECT_EQ(watch.since(0), 100u);
  runs(200);
  leaves(300);
  EXPECT_TRUE(watch.spins(0));
  EXPECT_TRUE(watch.has_spun(0));
  EXPECT_EQ(watch.since(0), 100u);
  runs(400);
  leaves(400 + kMs);
  EXPECT_FALSE(watch.spins(0)) << "a new spin may start";
  EXPECT_TRUE(watch.has_spun(0));
  EXPECT_EQ(watch.since(0), 400 + kMs);
}

TEST_F(SpinWatchTest, RunsAroundAPreemptionAddUp) {
  for (const uint64_t second : {kMs / 2, kMs / 2 - 1}) {
    watch = SpinWatch(catalog_of({1}));
    leaves(100);
    runs(1000);
    leaves(1000 + kMs / 2, false);
    runs(5 * kMs);
    leaves(5 * kMs + second);
    EXPECT_EQ(watch.spins(0), second < kMs / 2);
    runs(9 * kMs);
    leaves(9 * kMs + kMs - 1);
    EXPECT_TRUE(watch.spins(0)) << "each yield starts from 0";
  }
}

TEST_F(SpinWatchTest, ABlockEndsASpin) {
  for (const ThreadState state : {ThreadState::Paused, ThreadState::Dead, ThreadState::Unknown}) {
    watch = SpinWatch(catalog_of({1}));
    leaves(100);
    runs(200);
    leaves(300);
    watch.change(0, {ThreadState::Cooling, state, 0, 0}, 350, false);
    EXPECT_FALSE(watch.spins(0));
    EXPECT_TRUE(watch.has_spun(0));
    runs(400);
    leaves(500);
    EXPECT_FALSE(watch.spins(0)) << "the first yield after it";
    EXPECT_EQ(watch.since(0), 500u);
  }
}

TEST_F(SpinWatchTest, AThreadThatIsMovedStillSpins) {
  leaves(100);
  watch.change(0, {ThreadState::Cooling, ThreadState::Cooling, 0, 1}, 150, true);
  EXPECT_FALSE(watch.spins(0)) << "that was no yield";
  runs(200);
  watch.change(0, {ThreadState::Running, ThreadState::Running, 1, 2}, 200 + kMs, false);
  leaves(300 + kMs);
  EXPECT_FALSE(watch.spins(0)) << "it ran since 200";
}

} // namespace
} // namespace ovnitrace
