// SPDX-License-Identifier: BSD-2-Clause
#include "user/chunk/context_table.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace ovnitrace::test {

// Against a std::map, at every filling, over many epochs. Many tids have the same place.
TEST(ContextTable, IsAMapFromTidToContext) {
  std::mt19937 random(1);
  ContextTable table;
  for (int epoch = 0; epoch < 50; epoch++) {
    std::map<uint32_t, uint16_t> expected;
    const uint32_t range = 5'000 + random() % 4'000'000;
    uint16_t last = 0;
    while (table.remaining() > 0) {
      const uint32_t tid = random() % range;
      const auto known = expected.find(tid);
      ASSERT_EQ(table.find(tid, 100), known == expected.end() ? 0 : known->second);
      if (known == expected.end() || random() % 64 == 0) {
        const uint16_t context = table.assign(tid);
        ASSERT_EQ(context, last + 1) << "contexts count from 1";
        expected[tid] = last = context;
      }
    }
    for (const auto &[tid, context] : expected) {
      ASSERT_EQ(table.find(tid, 100), context);
      if (context % 3 == 0)
        table.expire(tid, 50); // those of other tids stay
    }
    for (const auto &[tid, context] : expected) {
      ASSERT_EQ(table.find(tid, 49), context);
      ASSERT_EQ(table.find(tid, 50), context % 3 == 0 ? 0 : context);
    }
    table.clear();
    ASSERT_EQ(table.remaining(), ContextTable::kCapacity);
    for (const auto &[tid, context] : expected)
      ASSERT_EQ(table.find(tid, 100), 0);
  }
}

// A tid that the kernel used twice: events of the first thread that come late keep its context.
TEST(ContextTable, KeepsTwoThreadsOfOneTidApartByTime) {
  ContextTable table;
  const uint16_t old = table.assign(7);
  table.expire(7, 50);
  EXPECT_EQ(table.find(7, 49), old);
  EXPECT_EQ(table.find(7, 50), 0);
  const uint16_t next = table.assign(7);
  EXPECT_EQ(table.find(7, 50), next);

  const uint16_t late = table.assign(8, 50); // introduced when the next one was known already
  EXPECT_EQ(table.find(8, 49), late);
  EXPECT_EQ(table.find(8, 50), 0);
  table.expire(9, 50); // unknown: nothing happens
  EXPECT_EQ(table.find(9, 1), 0);
}

} // namespace ovnitrace::test
