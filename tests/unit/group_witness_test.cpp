// SPDX-License-Identifier: BSD-2-Clause
#include "user/launch/group_witness.h"

#include <gtest/gtest.h>

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

namespace ovnitrace {
namespace {

/// In a process group of its own. Which answer was wrong, 0: none.
int ask_witness() {
  setpgid(0, 0);
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, nullptr);
  const GroupWitness witness;
  if (witness.got(SIGTERM))
    return 1;
  kill(getpid(), SIGTERM);
  if (witness.got(SIGTERM))
    return 2;
  kill(0, SIGTERM);
  kill(0, SIGHUP);
  if (!witness.got(SIGTERM))
    return 3;
  if (witness.got(SIGTERM))
    return 4;
  return witness.got(SIGHUP) ? 0 : 5;
}

TEST(GroupWitness, TellsWhatTheGroupGot) {
  const pid_t child = fork();
  if (child == 0)
    _exit(ask_witness());
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << WEXITSTATUS(status);
}

} // namespace
} // namespace ovnitrace
