// SPDX-License-Identifier: BSD-2-Clause
// What we need many descriptors for, the program that we start is not to inherit.
#include "emulator/base/identity.h"
#include "tests/unit/support/child_status.h"
#include "user/launch/file_limit.h"

#include <gtest/gtest.h>
#include <linux/capability.h>

#include <sys/resource.h>
#include <unistd.h>

#include <utility>

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

/// The limits in a child after they were 100 and `hard`, and were raised by 30.
std::pair<rlim_t, rlim_t> raised(rlim_t hard, bool root) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  EXPECT_EQ(test::status_of([&] {
              restore_file_limit();
              rlimit limit = {100, hard};
              if (setrlimit(RLIMIT_NOFILE, &limit) != 0 || (!root && setuid(65534) != 0))
                return 1;
              raise_file_limit(30);
              getrlimit(RLIMIT_NOFILE, &limit);
              return write(ends[1], &limit, sizeof limit) == ssize_t(sizeof limit) ? 0 : 1;
            }),
            0);
  rlimit limit = {};
  EXPECT_EQ(read(ends[0], &limit, sizeof limit), ssize_t(sizeof limit));
  close(ends[0]), close(ends[1]);
  return {limit.rlim_cur, limit.rlim_max};
}

TEST(FileLimit, TheHardLimitIsRaisedOnlyIfItMustBe) {
  if (geteuid() != 0)
    GTEST_SKIP() << "only root may raise it";
  using Limits = std::pair<rlim_t, rlim_t>;
  EXPECT_EQ(raised(200, true), Limits(130, 200));
  EXPECT_EQ(raised(130, true), Limits(130, 130));
  if (has_capability(CAP_SYS_RESOURCE)) { // which root may lack in a container
    EXPECT_EQ(raised(129, true), Limits(130, 130));
  }
  EXPECT_EQ(raised(129, false), Limits(129, 129)) << "as far as a user may";
  EXPECT_EQ(raised(200, false), Limits(130, 200));
}

TEST(FileLimit, IsRestoredOnce) {
  restore_file_limit();
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit low = {100, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  raise_file_limit(1);
  restore_file_limit();
  low.rlim_cur = 90;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  restore_file_limit();
  EXPECT_EQ(limit(), 90u) << "somebody else has set it";
  setrlimit(RLIMIT_NOFILE, &before);
}

} // namespace
} // namespace ovnitrace
