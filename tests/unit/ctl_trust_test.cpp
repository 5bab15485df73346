// SPDX-License-Identifier: BSD-2-Clause
// Which captures `ovnitrace ctl` trusts: those of the owner of what was named.
#include "emulator/base/error.h"
#include "tests/unit/support/child_status.h"
#include "tests/unit/support/error_from.h"
#include "tests/unit/support/temp_dir.h"
#include "user/control/ctl_socket.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstddef>
#include <poll.h>
#include <string>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace ovnitrace::control {
namespace {

/// Answers one caller.
void serve_one(CtlSocket &socket, const std::string &answer) {
  pollfd file = {socket.files().at(0).get(), POLLIN, 0};
  poll(&file, 1, -1);
  socket.serve(file.fd, [&](const std::string &) { return answer; });
}

/// What root gets from the capture of nobody in a directory of `owner`.
std::string asked_by_root(uid_t owner) {
  constexpr uid_t kNobody = 65534;
  const test::TempDir dir;
  int ready[2];
  if (pipe(ready) != 0 || chmod(dir.path().c_str(), 0777) != 0 ||
      chown(dir.path().c_str(), owner, owner) != 0)
    return "no directory";
  const pid_t child = fork();
  if (child == 0) {
    if (setuid(kNobody) != 0)
      _exit(1);
    CtlSocket socket(dir.path(), {}, kNobody);
    (void)!write(ready[1], "", 1);
    serve_one(socket, "ok\nhere\n");
    _exit(0);
  }
  char byte;
  (void)!read(ready[0], &byte, 1);
  close(ready[0]), close(ready[1]);
  std::string got;
  try {
    got = ask(dir.path(), "status");
  } catch (const ovnitrace::Error &error) {
    got = error.what();
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  return got;
}

TEST(CtlTrust, RootTrustsTheOwnerOfTheDirectory) {
  if (getuid() != 0)
    GTEST_SKIP() << "only root can be two users";
  EXPECT_EQ(asked_by_root(65534), "here\n");
  const std::string refused = asked_by_root(12345);
  EXPECT_NE(refused.find(": refused: the process that answers belongs to another user"),
            refused.npos)
      << refused;
}

TEST(CtlTrust, AUserTrustsNoOtherUser) {
  if (getuid() != 0)
    GTEST_SKIP() << "only root can be two users";
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t other = fork();
  if (other == 0) {
    if (setuid(65534) != 0 || prctl(PR_SET_DUMPABLE, 1) != 0) // so that its place is its own
      _exit(1);
    const CtlSocket socket("", {uint32_t(getpid())}, 65534);
    (void)!write(ready[1], "", 1);
    for (;;)
      pause();
  }
  char byte;
  EXPECT_EQ(read(ready[0], &byte, 1), 1);
  close(ready[0]), close(ready[1]);
  EXPECT_EQ(test::status_of([&] {
              if (setuid(65533) != 0)
                return 1;
              const std::string why =
                  test::error_from([&] { ask(std::to_string(other), "status"); });
              return why.find("belongs to another user") != why.npos ? 0 : 2;
            }),
            0);
  kill(other, SIGKILL);
  waitpid(other, nullptr, 0);
}

// Also a version of ovnitrace that knows other commands finds its first line.
TEST(CtlTrust, AStrangerGetsAnErrorWithoutBeingHeard) {
  if (getuid() != 0)
    GTEST_SKIP() << "only root can be two users";
  CtlSocket socket("", {uint32_t(getpid())}, 12345);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  const std::string name = "ovnitrace-control-" + std::to_string(getpid());
  name.copy(address.sun_path + 1, sizeof(address.sun_path) - 2);
  const auto size = socklen_t(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  const pid_t child = fork();
  if (child == 0) {
    char text[512];
    const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
    if (setuid(65534) != 0 || connect(fd, reinterpret_cast<sockaddr *>(&address), size) != 0)
      _exit(1);
    for (ssize_t got; (got = read(fd, text, sizeof text)) > 0;)
      (void)!write(ends[1], text, size_t(got));
    _exit(0);
  }
  close(ends[1]);
  serve_one(socket, "ok\nhere\n");
  char got[512] = {};
  (void)!read(ends[0], got, sizeof got - 1);
  close(ends[0]);
  waitpid(child, nullptr, 0);
  EXPECT_STREQ(got, "error\nonly the owner of the capture and root may control it\n");
}

TEST(CtlTrust, AUserTrustsAndControlsACaptureOfHisOwn) {
  EXPECT_EQ(test::status_of([] {
              if (getuid() == 0 && setuid(65534) != 0)
                return 1;
              CtlSocket socket("", {uint32_t(getpid())}, getuid());
              std::thread server([&] { serve_one(socket, "ok\nhere\n"); });
              const std::string got = ask(std::to_string(getpid()), "status");
              server.join();
              return got == "here\n" ? 0 : 2;
            }),
            0);
}

} // namespace
} // namespace ovnitrace::control
