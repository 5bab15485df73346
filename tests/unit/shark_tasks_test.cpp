// SPDX-License-Identifier: BSD-2-Clause
// Which task a context of S.Ha.R.K. means, and how several files are joined.
#include "emulator/shark/context_table.h"
#include "emulator/shark/run_index.h"

#include <gtest/gtest.h>

namespace ovnitrace::shark {
namespace {

TEST(SharkTasks, AreNumberedInTheOrderOfTheirFirstMention) {
  ContextTable table;
  EXPECT_EQ(table.task(0, Mention::names, 7, 1), kNone) << "0 is no context";
  EXPECT_EQ(table.task(9, Mention::wakes, 0, 1), 0u);
  EXPECT_EQ(table.task(4, Mention::names, 40, 2), 1u);
  EXPECT_EQ(table.task(9, Mention::names, 90, 3), 0u) << "a pid may come late";
  EXPECT_EQ(table.task(4, Mention::wakes, 0, 4), 1u);
  ASSERT_EQ(table.tasks().size(), 2u);
  EXPECT_EQ(table.tasks()[0].context, 9u);
  EXPECT_TRUE(table.tasks()[0].named);
  EXPECT_EQ(table.tasks()[0].pid, 90u);
  EXPECT_EQ(table.tasks()[1].pid, 40u);
  EXPECT_EQ(table.tasks()[1].created, 0u);
}

TEST(SharkTasks, AnotherPidIsAnotherTask) {
  ContextTable table;
  EXPECT_EQ(table.task(1, Mention::names, 10, 1), 0u);
  EXPECT_EQ(table.task(1, Mention::names, 10, 2), 0u);
  EXPECT_EQ(table.task(1, Mention::names, 11, 3), 1u);
  EXPECT_EQ(table.task(1, Mention::creates, 11, 4), 1u);
  EXPECT_EQ(table.task(1, Mention::creates, 11, 5), 1u);
  EXPECT_EQ(table.tasks()[1].created, 4u) << "the first time";
  EXPECT_EQ(table.task(1, Mention::creates, 12, 6), 2u);
  EXPECT_EQ(table.tasks()[2].created, 6u);
  EXPECT_EQ(table.tasks()[2].pid, 12u);
  EXPECT_EQ(table.tasks()[1].pid, 11u);
}

TEST(SharkTasks, WhatIsCreatedOrWokenAfterAnEndIsAnotherTask) {
  ContextTable table;
  EXPECT_EQ(table.task(1, Mention::names, 10, 1), 0u);
  EXPECT_EQ(table.task(1, Mention::ends, 10, 2), 0u);
  EXPECT_TRUE(table.tasks()[0].ended);
  EXPECT_EQ(table.task(1, Mention::names, 10, 3), 0u) << "a name of the one that has ended";
  EXPECT_EQ(table.task(1, Mention::wakes, 0, 4), 1u);
  EXPECT_FALSE(table.tasks()[1].ended);
  EXPECT_FALSE(table.tasks()[1].named);
  EXPECT_EQ(table.task(1, Mention::ends, 20, 5), 1u);
  EXPECT_EQ(table.tasks()[1].pid, 20u) << "an end gives a pid, too";
  EXPECT_EQ(table.task(1, Mention::creates, 20, 6), 2u) << "the same pid again";
}

RunIndex index(uint64_t first, uint64_t last, uint32_t rate, bool given) {
  RunIndex one;
  one.runs = {{.begin = 16, .end = 32, .first = first}};
  one.records = 1;
  one.first = first;
  one.last = last;
  one.rate = rate;
  one.counts[FTrace_EVT_cycles_per_msec] = given;
  one.counts[FTrace_EVT_ipoint] = 2;
  one.unknown = 3;
  one.read = 100;
  return one;
}

TEST(SharkFiles, AreJoinedByTime) {
  const RunIndex empty, a = index(700, 900, 5, false), b = index(300, 400, 6, false),
                        c = index(500, 1200, 0, false);
  const RunIndex all = join({&empty, &a, &b, &c});
  ASSERT_EQ(all.runs.size(), 3u);
  EXPECT_EQ(all.runs[0].file, 2u);
  EXPECT_EQ(all.runs[1].file, 3u);
  EXPECT_EQ(all.runs[2].file, 1u);
  EXPECT_EQ(all.runs[2].first, 700u);
  EXPECT_EQ(all.first, 300u);
  EXPECT_EQ(all.last, 1200u);
  EXPECT_EQ(all.records, 3u);
  EXPECT_EQ(all.unknown, 9u);
  EXPECT_EQ(all.read, 300u);
  EXPECT_EQ(all.counts[FTrace_EVT_ipoint], 6u);
  EXPECT_EQ(all.rate, 5u) << "the first one";
  EXPECT_EQ(join({&b, &empty}).first, 300u) << "an empty file has no first record";
}

TEST(SharkFiles, HaveTheFirstRateThatARecordGives) {
  const RunIndex starts = index(1, 2, 5, false), gives = index(3, 4, 6, true),
                 other = index(5, 6, 7, true), none = index(7, 8, 0, true);
  EXPECT_EQ(join({&starts, &gives, &other}).rate, 6u);
  EXPECT_EQ(join({&gives, &starts, &other}).rate, 6u) << "no later file changes it";
  EXPECT_EQ(join({&none, &other, &gives}).rate, 7u) << "a rate of 0 does not count";
  EXPECT_EQ(join({&starts, &none}).rate, 5u);
}

} // namespace
} // namespace ovnitrace::shark
