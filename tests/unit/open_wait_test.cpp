// SPDX-License-Identifier: BSD-2-Clause
// What is kept of a wait until it ends: the CPUs and who had them.
#include "emulator/why/open_wait.h"

#include <gtest/gtest.h>

#include <map>
#include <tuple>

namespace ovnitrace {
namespace {

using Parts = std::vector<std::tuple<uint32_t, uint32_t, uint64_t>>; ///< CPU, holder, ns

class OpenWaitTest : public ::testing::Test, private CpuHolders::Taker {
protected:
  OpenWaitTest() : holders(catalog(), 0, shown_, *this) {
    holders.hold(0, Culprit(Culprit::Kind::untraced, 77), 0);
    holders.hold(0, Culprit(Culprit::Kind::untraced, 88), 0);
  }

  static constexpr uint32_t kUnknown = 1, kFirst = 2, kSecond = 3; ///< holders

  static HolderSums sums(const std::map<uint32_t, uint64_t> &by_holder) {
    HolderSums sums;
    for (const auto &[holder, ns] : by_holder)
      sums.of({holder, 0}).ns = ns;
    return sums;
  }
  Parts parts() const {
    Parts all;
    for (const OpenWait::Part &part : wait.parts())
      all.emplace_back(part.cpu, part.sum.holder, part.sum.ns);
    return all;
  }
  LongWait described() const {
    LongWait line;
    wait.describe(line, holders);
    return line;
  }

  OpenWait wait;

private:
  const Catalog &catalog() {
    catalog_.hosts = {{"node"}};
    catalog_.cpus = {{.index = 0, .host = 0}};
    return catalog_;
  }
  void held(uint32_t, uint32_t, WaitKind, const HolderSums &) override {}

  Catalog catalog_;
  std::vector<uint8_t> shown_;

protected:
  CpuHolders holders; ///< after its catalog
};

TEST_F(OpenWaitTest, TheTimeOfAHolderAddsUpOnEachCpu) {
  wait.add(4, sums({{kFirst, 10}, {kSecond, 20}}));
  wait.add(5, sums({{kFirst, 5}}));
  wait.add(4, sums({{kFirst, 7}, {9, 1}}));
  EXPECT_EQ(parts(), (Parts{{4, kFirst, 17}, {4, kSecond, 20}, {5, kFirst, 5}, {4, 9, 1}}));
}

TEST_F(OpenWaitTest, TheCpuIsTheOneForWhichItWaitedLongest) {
  wait.add(4, sums({{kFirst, 10}}));
  EXPECT_FALSE(described().moved);
  EXPECT_EQ(described().cpu_ns, 10u);
  wait.add(5, sums({{kFirst, 6}, {CpuHolders::kOthers, 5}}));
  EXPECT_TRUE(described().moved);
  EXPECT_EQ(described().cpu, 5u);
  EXPECT_EQ(described().cpu_ns, 11u);
  wait.add(4, sums({{kSecond, 1}}));
  EXPECT_EQ(described().cpu, 4u) << "the first of two";
  EXPECT_EQ(described().cpu_ns, 11u);
  wait.add(5, sums({{kSecond, 1}}));
  EXPECT_EQ(described().cpu, 5u);
}

TEST_F(OpenWaitTest, HoldersAreSortedByTimeAndUnknownOnesAreLast) {
  wait.add(0, sums({{kUnknown, 100}, {kFirst, 2}, {kSecond, 3}}));
  wait.add(1, sums({{kFirst, 9}}));
  const std::vector<LongWait::Part> found = described().holders;
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[0].holder, Culprit(Culprit::Kind::untraced, 77));
  EXPECT_EQ(found[0].cpu, 1u);
  EXPECT_EQ(found[0].ns, 9u);
  EXPECT_EQ(found[1].holder, Culprit(Culprit::Kind::untraced, 88));
  EXPECT_EQ(found[2].ns, 2u);
  EXPECT_EQ(found[2].cpu, 0u);
  EXPECT_EQ(found[3].holder, Culprit());
}

TEST_F(OpenWaitTest, OthersAreNoPartButThereWereMore) {
  wait.add(0, sums({{CpuHolders::kOthers, 50}, {kFirst, 1}}));
  EXPECT_EQ(parts(), (Parts{{0, kFirst, 1}}));
  EXPECT_TRUE(described().more_holders);
}

TEST_F(OpenWaitTest, TheShortestOfMoreThanSixtyFourPartsIsForgotten) {
  std::map<uint32_t, uint64_t> many;
  for (uint32_t n = 0; n < LongWait::kMostParts; n++)
    many[10 + n] = n == 30 ? 1 : 100 + n;
  wait.add(0, sums(many));
  EXPECT_EQ(parts().size(), LongWait::kMostParts);
  EXPECT_FALSE(described().more_holders);
  wait.add(1, sums({{kFirst, 2}}));
  EXPECT_TRUE(described().more_holders);
  EXPECT_EQ(parts().size(), LongWait::kMostParts);
  uint64_t least = UINT64_MAX;
  for (const auto &[cpu, holder, ns] : parts())
    least = std::min(least, ns);
  EXPECT_EQ(least, 2u);
}

TEST_F(OpenWaitTest, NothingIsLeftForTheNextWaitButItsKind) {
  for (const uint32_t count : {1u, 8u, 9u, 70u}) {
    std::map<uint32_t, uint64_t> holders_of_one;
    for (uint32_t n = 0; n < count; n++)
      holders_of_one[10 + n] = 1;
    wait.kind = WaitKind::refill;
    wait.add(0, sums(holders_of_one));
    wait.add(1, sums(holders_of_one));
    wait.clear();
    EXPECT_EQ(wait.kind, WaitKind::refill);
    EXPECT_TRUE(parts().empty());
    EXPECT_EQ(described().cpu, kNone);
    EXPECT_FALSE(described().moved);
    EXPECT_FALSE(described().more_holders);
  }
}

} // namespace
} // namespace ovnitrace
