// SPDX-License-Identifier: BSD-2-Clause
// Lists that are longer than their block in memory.
#include "emulator/critical/disk_list.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace ovnitrace {
namespace {

struct Record {
  uint64_t first;
  uint32_t second;
};

TEST(DiskListOfBlocks, HasEachRecordInEitherDirection) {
  DiskList<Record> list(3);
  EXPECT_EQ(list.count(), 0u);
  for (uint32_t n = 0; n < 10; n++)
    list.append({100 + n, 7 * n});
  ASSERT_EQ(list.count(), 10u);
  for (uint32_t n = 0; n < 10; n++) {
    EXPECT_EQ(list.at(n).first, 100 + n) << n;
    EXPECT_EQ(list.at(n).second, 7 * n) << n;
  }
  for (uint32_t n = 10; n-- > 0;)
    EXPECT_EQ(list.at(n).first, 100 + n) << n;
  EXPECT_EQ(list.at(8).first, 108u);
  EXPECT_EQ(list.at(3).first, 103u) << "of the second block, not the first";
}

TEST(DiskListOfBlocks, GrowsWhileItIsRead) {
  DiskList<Record> list(2);
  for (uint32_t n = 0; n < 4; n++)
    list.append({n, n});
  EXPECT_EQ(list.at(1).first, 1u) << "a full block was written";
  EXPECT_EQ(list.at(2).first, 2u) << "the last one was not, full as it is";
  list.append({4, 4});
  EXPECT_EQ(list.at(3).first, 3u);
  EXPECT_EQ(list.at(4).first, 4u);
  EXPECT_EQ(list.at(0).first, 0u);
}

} // namespace
} // namespace ovnitrace
