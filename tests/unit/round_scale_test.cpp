// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/prv/round_scale.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

namespace ovnitrace {
namespace {

TEST(RoundScale, NoValuesGiveNoScale) {
  RoundScale scale;
  EXPECT_TRUE(scale.empty());
  EXPECT_EQ(scale.common(), 0u);
  for (int64_t value : {int64_t(0), int64_t(-1), INT64_MIN})
    scale.add(value);
  EXPECT_TRUE(scale.empty());
  EXPECT_EQ(scale.common(), 0u);
  EXPECT_EQ(scale.largest(), 0);
}

TEST(RoundScale, ARoundNumberIsOnItsOwnScale) {
  for (int64_t value : {1, 2, 5, 10, 2000, 500'000}) {
    RoundScale scale;
    scale.add(value);
    EXPECT_EQ(scale.common(), uint64_t(value));
  }
  RoundScale scale;
  scale.add(2001);
  EXPECT_EQ(scale.common(), 5000u);
}

TEST(RoundScale, FiveInAHundredMayLieBeyond) {
  RoundScale scale;
  for (int n = 0; n < 95; n++)
    scale.add(7);
  for (int n = 0; n < 5; n++)
    scale.add(3'000'000'000);
  EXPECT_EQ(scale.common(), 10u);
  scale.add(3'000'000'000); // 6 of 101
  EXPECT_EQ(scale.common(), 5'000'000'000u);
  EXPECT_EQ(scale.largest(), 3'000'000'000);
}

TEST(RoundScale, TheLargestValuesHaveAScale) {
  RoundScale scale;
  scale.add(INT64_MAX);
  EXPECT_EQ(scale.common(), 5'000'000'000'000'000'000u);
  EXPECT_EQ(scale.largest(), INT64_MAX);
}

/// Against all values, sorted.
TEST(RoundScale, IsTheLeastRoundNumberThatHolds95Percent) {
  std::mt19937_64 random(8);
  for (int round = 0; round < 200; round++) {
    RoundScale scale;
    std::vector<uint64_t> values(1 + random() % 300);
    for (uint64_t &value : values) {
      value = 1 + (random() >> (1 + random() % 62)) % 1'000'000'000'000'000'000;
      scale.add(int64_t(value));
    }
    auto share = [&values](uint64_t limit) {
      return 100.0 *
             double(std::count_if(values.begin(), values.end(),
                                  [limit](uint64_t value) { return value <= limit; })) /
             double(values.size());
    };
    const uint64_t common = scale.common();
    uint64_t digit = common;
    while (digit % 10 == 0)
      digit /= 10;
    ASSERT_TRUE(digit == 1 || digit == 2 || digit == 5) << common;
    const uint64_t before = digit == 5 ? common / 5 * 2 : common / 2;
    EXPECT_GE(share(common), 95);
    if (common > 1) {
      EXPECT_LT(share(before), 95) << common;
    }
  }
}

} // namespace
} // namespace ovnitrace
