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

} // namespace
} // namespace ovnitrace
