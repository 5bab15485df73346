// SPDX-License-Identifier: BSD-2-Clause
// What we need many descriptors for, the program that we start is not to inherit.
#include "user/launch/file_limit.h"

#include <gtest/gtest.h>

#include <sys/resource.h>

namespace ovnitrace {
namespace {

rlim_t limit() {
  rlimit limit = {};
  EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  return limit.rlim_cur;
}

// Raised twice, it is as it was before the first time.
TEST(FileLimit, IsRestoredToWhatItWas) {
  restore_file_limit(); // another test may have raised it
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  if (before.rlim_max == RLIM_INFINITY || before.rlim_max < 200)
    GTEST_SKIP() << "no room to raise it";
  const rlimit low = {before.rlim_max - 100, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  raise_file_limit(10);
  EXPECT_EQ(limit(), low.rlim_cur + 10);
  raise_file_limit(20);
  EXPECT_EQ(limit(), low.rlim_cur + 30);
  restore_file_limit();
  EXPECT_EQ(limit(), low.rlim_cur);
  setrlimit(RLIMIT_NOFILE, &before);
}

} // namespace
} // namespace ovnitrace
