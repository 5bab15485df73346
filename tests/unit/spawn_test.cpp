// SPDX-License-Identifier: BSD-2-Clause
// What a program that spawn() starts has from us.
#include "emulator/base/spawn.h"
#include "emulator/base/unique_fd.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>

namespace ovnitrace {
namespace {

/// Runs a command of the shell. Returns its status and what it wrote to both outputs.
std::pair<int, std::string> run(const std::string &command,
                                const std::vector<std::string> &environment) {
  int out[2], in[2];
  if (pipe2(out, O_CLOEXEC) != 0 || pipe2(in, O_CLOEXEC) != 0)
    return {-1, "no pipe"};
  const UniqueFd ours(out[0]), nothing(in[0]);
  UniqueFd theirs(out[1]);
  close(in[1]);
  pid_t pid = -1;
  if (const int error = spawn({"/bin/sh", "-c", command, "name", "one"}, environment,
                              {nothing.get(), theirs.get(), theirs.get()}, pid))
    return {-error, ""};
  theirs = UniqueFd();
  std::string text;
  char part[256];
  for (ssize_t got; (got = read(ours.get(), part, sizeof part)) > 0;)
    text.append(part, size_t(got));
  int status = 0;
  waitpid(pid, &status, 0);
  return {WEXITSTATUS(status), text};
}

using Result = std::pair<int, std::string>;

TEST(Spawn, GivesArgumentsEnvironmentAndFiles) {
  EXPECT_EQ(run("echo $1 $A $B; echo $C >&2; cat; exit 3", {"A=1", "C=3"}),
            Result(3, "one 1\n3\n"));
}

TEST(Spawn, LeavesOtherFilesAndTheEnvironmentAsTheyAre) {
  setenv("OVNITRACE_SPAWN_TEST", "x", 1);
  pid_t pid = -1;
  const std::string command = "test \"$OVNITRACE_SPAWN_TEST\" = x && test ! -e /proc/self/fd/77";
  const UniqueFd file(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const UniqueFd high(fcntl(file.get(), F_DUPFD_CLOEXEC, 77));
  ASSERT_EQ(high.get(), 77);
  ASSERT_EQ(spawn({"sh", "-c", command}, own_environment(), {}, pid), 0) << "PATH finds it";
  int status = 1;
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 0);
  unsetenv("OVNITRACE_SPAWN_TEST");
}

TEST(Spawn, SignalsAreAsUsual) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  const auto pipe = signal(SIGPIPE, SIG_IGN), size = signal(SIGXFSZ, SIG_IGN);
  const Result blocked = run("grep SigBlk /proc/self/status", own_environment());
  EXPECT_EQ(blocked, Result(0, "SigBlk:\t0000000000000000\n"));
  const Result ignored = run("sh -c 'kill -PIPE $$; echo alive'; sh -c 'kill -XFSZ $$; echo alive'",
                             own_environment());
  EXPECT_EQ(ignored.second.find("alive"), std::string::npos) << ignored.second;
  signal(SIGPIPE, pipe);
  signal(SIGXFSZ, size);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST(Spawn, SaysWhyAProgramCannotStart) {
  pid_t pid = -1;
  EXPECT_EQ(spawn({"/nonexistent"}, {}, {}, pid), ENOENT);
}

} // namespace
} // namespace ovnitrace
