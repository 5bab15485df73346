// SPDX-License-Identifier: BSD-2-Clause
// Runs something where only few threads can start.
#pragma once

#include <gtest/gtest.h>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <system_error>

namespace ovnitrace::test {

/// Calls `start` in child processes of which each may have one thread more than the one before. As
/// root that is exact: each is a user of its own. Every child must end by itself, whether its
/// threads could start or std::system_error was thrown. Returns how many threw it.
inline int failures_with_few_threads(const std::function<void()> &start) {
  constexpr int kChildren = 6;
  constexpr uid_t kFirstUser = 1'640'000'000; // nobody has a process as these
  int failed = 0;
  for (int n = 0; n < kChildren; n++) {
    const pid_t child = fork();
    if (child == 0) {
      const rlimit few{rlim_t(n + 1), rlim_t(n + 1)};
      if ((getuid() == 0 && setuid(kFirstUser + uid_t(n)) != 0) || setrlimit(RLIMIT_NPROC, &few))
        _exit(2);
      try {
        start();
        _exit(0);
      } catch (const std::system_error &) {
        _exit(1);
      }
    }
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) < 2) << n << ": status " << status;
    failed += WIFEXITED(status) && WEXITSTATUS(status) == 1;
  }
  return failed;
}

} // namespace ovnitrace::test
