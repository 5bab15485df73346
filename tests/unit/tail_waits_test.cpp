// SPDX-License-Identifier: BSD-2-Clause
// Which waits are the slowest ones.
#include "emulator/why/open_wait.h"
#include "emulator/why/tail_waits.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace ovnitrace {
namespace {

struct NoTaker final : CpuHolders::Taker {
  void held(uint32_t, uint32_t, WaitKind, const HolderSums &) override {}
};

/// `lengths`: how many waits have which length.
TailSums tail_of(const std::vector<std::pair<uint32_t, uint64_t>> &lengths) {
  NoTaker taker;
  const Catalog catalog;
  const std::vector<uint8_t> shown;
  const CpuHolders holders(catalog, 0, shown, taker);
  TailWaits waits;
  for (const auto &[count, length] : lengths)
    for (uint32_t n = 0; n < count; n++)
      waits.add(length, OpenWait());
  return waits.take(holders);
}

TEST(TailWaitsOfLengths, AHundredWaitsHaveATail) {
  EXPECT_EQ(tail_of({{98, 100}, {1, 1000}}).all, 0u);
  const TailSums tail = tail_of({{99, 100}, {1, 1000}});
  EXPECT_EQ(tail.all, 100u);
  EXPECT_EQ(tail.count, 1u);
  EXPECT_EQ(tail.shortest, 1000u);
}

TEST(TailWaitsOfLengths, LengthsThatDifferByLittleAreOne) {
  TailSums tail = tail_of({{98, 100}, {1, 1023}, {1, 896}});
  EXPECT_EQ(tail.count, 2u);
  EXPECT_EQ(tail.shortest, 896u);
  tail = tail_of({{98, 100}, {1, 1023}, {1, 895}});
  EXPECT_EQ(tail.count, 1u) << "the next quarter of a power of two";
  EXPECT_EQ(tail.shortest, 1023u);
  EXPECT_EQ(tail_of({{98, 1}, {1, 2}, {1, 3}}).shortest, 3u);
  EXPECT_EQ(tail_of({{98, 1}, {1, 5}, {1, 4}}).shortest, 5u);
}

TEST(TailWaitsOfLengths, ItIsAHundredthUnlessThatWouldBeMoreThanATenth) {
  TailSums tail = tail_of({{900, 100}, {99, 500}, {1, 1000}});
  EXPECT_EQ(tail.count, 100u);
  EXPECT_EQ(tail.shortest, 500u);
  tail = tail_of({{899, 100}, {100, 500}, {1, 1000}});
  EXPECT_EQ(tail.count, 1u);
  EXPECT_EQ(tail.all, 1000u);
  EXPECT_EQ(tail_of({{90, 100}, {10, 1000}}).count, 10u);
  EXPECT_EQ(tail_of({{89, 100}, {11, 1000}}).count, 0u) << "too many are alike";
}

// Only waits of the tail have a say.
TEST(TailWaitsOfLengths, HoldersHaveTheirSumsMostFirstAndUnknownOnesLast) {
  const auto hog = Culprit(Culprit::Kind::untraced, 77),
             cron = Culprit(Culprit::Kind::untraced, 88);
  NoTaker taker;
  Catalog catalog;
  catalog.hosts.resize(2);
  catalog.cpus.resize(1);
  catalog.cpus[0].host = 1;
  const std::vector<uint8_t> shown;
  CpuHolders holders(catalog, 0, shown, taker);
  uint32_t unseen = 0, of_hog = 0, of_cron = 0;
  holders.hold(0, hog, 1);
  holders.hold(0, cron, 2);
  for (uint32_t number = 0; number < 4; number++) {
    const Culprit culprit = holders.holder(number);
    (culprit == hog ? of_hog : culprit == cron ? of_cron : unseen) = number;
  }
  const auto wait_of = [](const std::vector<HolderSum> &parts) {
    HolderSums sums;
    for (const HolderSum &part : parts)
      sums.of({part.holder}).ns += part.ns;
    OpenWait wait;
    wait.add(0, sums);
    return wait;
  };
  TailWaits waits;
  for (int n = 0; n < 198; n++)
    waits.add(100, wait_of({{of_hog, 100}}));
  waits.add(1000, wait_of({{unseen, 600}, {of_hog, 300}, {of_cron, 100}}));
  waits.add(1000, wait_of({{of_cron, 501}, {of_hog, 200}, {unseen, 299}}));
  const TailSums tail = waits.take(holders);
  ASSERT_EQ(tail.holders.size(), 3u);
  EXPECT_EQ(tail.holders[0].culprit, cron);
  EXPECT_EQ(tail.holders[0].ns, 601u);
  EXPECT_EQ(tail.holders[0].host, 1u);
  EXPECT_EQ(tail.holders[1].culprit, hog);
  EXPECT_EQ(tail.holders[1].ns, 500u);
  EXPECT_FALSE(tail.holders[2].culprit.is_known());
  EXPECT_EQ(tail.holders[2].ns, 899u);
}

} // namespace
} // namespace ovnitrace
