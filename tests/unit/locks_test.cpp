// SPDX-License-Identifier: BSD-2-Clause
// How waits for futexes are put together: emulator/why/locks.
#include "emulator/why/locks.h"

#include <gtest/gtest.h>

#include <set>

namespace ovnitrace {
namespace {

/// Two threads of process 10 and one of process 20 on the first host, and one of a process 10 on
/// the second host.
class LocksOf : public ::testing::Test {
protected:
  LocksOf() {
    catalog.hosts.resize(2);
    catalog.threads.resize(4);
    for (const size_t n : {0, 1, 3})
      catalog.threads[n].pid = 10;
    catalog.threads[2].pid = 20;
    catalog.threads[3].host = 1;
  }
  std::vector<Lock> locks() const { return locks_of(catalog, why); }

  Catalog catalog;
  Explanation why;
};

TEST_F(LocksOf, TheWaitsOfAProcessForOneFutexAreOne) {
  why.locks = {{.thread = 1, .futex = 8, .count = 2, .gave_up = 1, .ns = 50, .max = 40},
               {.thread = 0, .futex = 8, .count = 30, .gave_up = 20, .ns = 7, .max = 3},
               {.thread = 1, .futex = 8, .inherits = true, .count = 400, .ns = 600, .max = 45},
               {.thread = 1, .futex = 8, .count = 1, .ns = 1, .max = 1}};
  const std::vector<Lock> all = locks();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].pid, 10u);
  EXPECT_EQ(all[0].futex, 8u);
  EXPECT_EQ(all[0].count, 433u);
  EXPECT_EQ(all[0].gave_up, 21u);
  EXPECT_EQ(all[0].ns, 658u);
  EXPECT_EQ(all[0].max, 45u);
  EXPECT_EQ(all[0].host, 0u);
  EXPECT_TRUE(all[0].inherits) << "one wait says so";
  EXPECT_EQ(all[0].threads, (std::set<uint32_t>{0, 1}));
  ASSERT_EQ(all[0].parts.size(), 4u);
  for (size_t n = 0; n < 4; n++)
    EXPECT_EQ(all[0].parts[n], &why.locks[n]);
}

TEST_F(LocksOf, AFutexIsOfAProcessOfAHost) {
  why.locks = {{.thread = 0, .futex = 8, .ns = 1}, {.thread = 2, .futex = 8, .ns = 3},
               {.thread = 3, .futex = 8, .ns = 5}, {.thread = 0, .futex = 9, .ns = 2},
               {.thread = 1, .futex = 8, .ns = 3}, {.thread = 3, .futex = 7, .ns = 2}};
  std::vector<std::vector<uint64_t>> all;
  for (const Lock &lock : locks())
    all.push_back({lock.host, lock.pid, lock.futex, lock.ns});
  EXPECT_EQ(all, (std::vector<std::vector<uint64_t>>{
                     {1, 10, 8, 5}, {0, 10, 8, 4}, {0, 20, 8, 3}, {0, 10, 9, 2}, {1, 10, 7, 2}}))
      << "most time first, else by host, process and futex";
}

TEST_F(LocksOf, TheStackIsThatOfTheLongestWait) {
  why.locks = {{.thread = 0, .futex = 8, .max = 30, .max_stack = 1},
               {.thread = 1, .futex = 8, .max = 40, .max_stack = 2},
               {.thread = 0, .futex = 8, .max = 40, .max_stack = 3},
               {.thread = 1, .futex = 8, .max = 39, .max_stack = 4},
               {.thread = 2, .futex = 8, .max = 0, .max_stack = 5}};
  const std::vector<Lock> all = locks();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].max_stack, 2u) << "the first of equal ones";
  EXPECT_EQ(all[1].max_stack, 5u) << "also of a wait of no length";
}

} // namespace
} // namespace ovnitrace
