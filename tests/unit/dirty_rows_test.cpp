// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/core/dirty_rows.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

namespace ovnitrace {
namespace {

std::set<uint32_t> bits_of(DirtyRows &dirty, uint32_t row) {
  std::set<uint32_t> bits;
  for (uint32_t rank = 0; rank < dirty.words() * 64; rank++)
    if (dirty.row(row)[rank / 64] >> rank % 64 & 1)
      bits.insert(rank);
  return bits;
}

/// Random marks while channels are put in anywhere, against sets of ranks.
TEST(DirtyRows, KeepTheMarksOfEachChannelWhenOthersAreUsed) {
  constexpr uint32_t kRows = 5, kChannels = 150; // three words
  for (uint32_t seed = 0; seed < 50; seed++) {
    std::mt19937 random(seed);
    DirtyRows dirty(kRows);
    std::map<uint32_t, std::set<uint32_t>> expected;
    std::vector<uint32_t> order;
    for (uint32_t used = 0; used < kChannels; used++) {
      const uint32_t rank = random() % (used + 1);
      dirty.insert(rank, used + 1);
      for (auto &[row, ranks] : expected) {
        std::set<uint32_t> moved;
        for (const uint32_t before : ranks)
          moved.insert(before + (before >= rank));
        ranks = moved;
      }
      for (uint32_t marks = random() % 3; marks > 0; marks--) {
        const uint32_t row = random() % kRows, marked = random() % (used + 1);
        dirty.mark(row, marked);
        if (expected[row].empty())
          order.push_back(row);
        expected[row].insert(marked);
      }
      for (uint32_t row = 0; row < kRows; row++)
        ASSERT_EQ(bits_of(dirty, row), expected[row]) << "seed " << seed << ", " << used;
      ASSERT_EQ(std::vector<uint32_t>(dirty.rows().begin(), dirty.rows().end()), order);
    }
  }
}

TEST(DirtyRows, AMaskWithoutChannelsMarksNoRow) {
  DirtyRows dirty(3);
  dirty.insert(0, 1);
  dirty.mark_all(1, ChannelBits(1));
  EXPECT_TRUE(dirty.rows().empty());
  dirty.mark_all(2, ChannelBits(1, 1));
  EXPECT_EQ(bits_of(dirty, 2), std::set<uint32_t>{0});
  EXPECT_EQ(dirty.rows().size(), 1u);
}

} // namespace
} // namespace ovnitrace
