// SPDX-License-Identifier: BSD-2-Clause
// Who may reach the socket of --control: user/control/ctl_socket.
#include "emulator/base/error.h"
#include "emulator/base/messages.h"
#include "emulator/base/unique_fd.h"
#include "tests/unit/support/error_from.h"
#include "tests/unit/support/files.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/work_in.h"
#include "user/control/ctl_socket.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace ovnitrace::control {
namespace {

// A change by path could be of a file that somebody has put there meanwhile.
TEST(CtlSocket, IsPrivateFromTheStart) {
  test::TempDir dir;
  const UniqueFd watch(inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  ASSERT_GE(inotify_add_watch(watch.get(), dir.path().c_str(), IN_ATTRIB), 0);
  const mode_t before = umask(0);
  const CtlSocket socket(dir.path(), {}, getuid());
  umask(before);
  struct stat status;
  ASSERT_EQ(stat((dir / "control.sock").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  char events[4096];
  EXPECT_LT(read(watch.get(), events, sizeof events), 0) << "its mode was changed";
}

TEST(CtlSocket, ALongAnswerIsSentWhole) {
  test::TempDir dir;
  CtlSocket socket(dir.path(), {}, getuid());
  ASSERT_EQ(socket.files().size(), 1u);
  const std::string answer = "ok\n" + std::string(3 << 20, 'x') + "\n";
  std::thread server([&] {
    socket.serve(socket.files()[0].get(), [&](const std::string &command) {
      EXPECT_EQ(command, "status");
      return answer;
    });
  });
  const std::string got = ask(dir.path(), "status");
  server.join();
  EXPECT_EQ(got.size() + 3, answer.size()) << "all but the first line";
}

TEST(CtlSocket, ABusyCaptureIsNotOneThatHasEnded) {
  test::TempDir dir;
  const auto error_of = [&](const char *command) {
    try {
      ask(dir.path(), command, 1);
    } catch (const ovnitrace::Error &error) {
      return std::string(error.what());
    }
    return std::string();
  };
  auto socket = std::make_unique<CtlSocket>(dir.path(), std::vector<uint32_t>(), getuid());
  EXPECT_EQ(error_of("status"), "ctl " + dir.path() +
                                    " status: no answer in 0.001 s: the capture is busy, perhaps "
                                    "saving; it will still do this")
      << "nobody serves";
  std::thread server([&] {
    pollfd file = {socket->files()[0].get(), POLLIN, 0};
    for (int callers = 0; callers < 2; callers++) {
      poll(&file, 1, -1);
      socket->serve(file.fd, [](const std::string &) { return ""; });
    }
    socket.reset();
  });
  const std::string ended = error_of("stop");
  server.join();
  EXPECT_NE(ended.find("the capture has ended"), std::string::npos) << ended;
}

std::string error_of(const std::string &where) {
  return ovnitrace::test::error_from([&] { ask(where, "status"); });
}

TEST(CtlSocket, ACaptureThatHasEndedIsSaidToHaveEnded) {
  test::TempDir dir;
  const std::string ended = "ctl " + dir.path() + ": no capture is running there: it has ended";
  EXPECT_EQ(error_of(dir.path()), ended);
  const UniqueFd killed(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  (dir / "control.sock").copy(address.sun_path, sizeof(address.sun_path) - 1);
  ASSERT_EQ(bind(killed.get(), reinterpret_cast<sockaddr *>(&address), sizeof address), 0);
  EXPECT_EQ(error_of(dir.path()), ended) << "nobody listens at the socket that it has left";
  const std::string pid = std::to_string(getpid());
  EXPECT_EQ(
      error_of(pid),
      "ctl " + pid +
          ": no running capture has this PID: it has ended, or give the directory of its trace");
  EXPECT_EQ(error_of(""), "ctl : No such file or directory") << "no PID";
}

TEST(CtlSocket, ACaptureMayEndAtAnyTime) {
  test::TempDir dir;
  for (int round = 0; round < 300; round++) {
    auto socket = std::make_unique<CtlSocket>(dir.path(), std::vector<uint32_t>(), getuid());
    std::thread ending([&] { socket.reset(); });
    const std::string error = error_of(dir.path());
    ending.join();
    EXPECT_NE(error.find("has ended"), std::string::npos) << error;
  }
}

TEST(CtlSocket, AnAnswerCanComeLater) {
  test::TempDir dir;
  CtlSocket socket(dir.path(), {}, getuid());
  std::thread server([&] {
    pollfd file = {socket.files()[0].get(), POLLIN, 0};
    poll(&file, 1, -1);
    socket.serve(file.fd, [](const std::string &) { return ""; });
    for (const UniqueFd &caller : socket.take_waiting())
      send_answer(caller.get(), "ok\nlater\n");
  });
  EXPECT_EQ(ask(dir.path(), "stop"), "later\n");
  server.join();
}

// Anybody can listen at the number of a process, which is in no file system.
TEST(CtlSocket, ASocketOfAnotherUserIsNotTrusted) {
  if (getuid() != 0)
    GTEST_SKIP() << "only root can be two users";
  int ready[2], done[2];
  ASSERT_TRUE(pipe(ready) == 0 && pipe(done) == 0);
  const pid_t child = fork();
  if (child == 0) {
    constexpr uid_t kNobody = 65534;
    if (setuid(kNobody) != 0)
      _exit(1);
    const CtlSocket socket("", {uint32_t(getppid())}, kNobody);
    (void)!write(ready[1], "", 1);
    char byte;
    (void)!read(done[0], &byte, 1);
    _exit(0);
  }
  char byte;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  try {
    ask(std::to_string(getpid()), "status");
    ADD_FAILURE() << "it was asked";
  } catch (const ovnitrace::Error &error) {
    EXPECT_EQ(std::string(error.what()),
              "ctl " + std::to_string(getpid()) +
                  ": refused: the process that answers belongs to another user, so it is not the "
                  "capture");
  }
  (void)!write(done[1], "", 1);
  waitpid(child, nullptr, 0);
}

/// What a command gets from a capture that answers it so; and the command that the capture got.
std::pair<std::string, std::string> talk(const std::string &command,
                                         const std::function<std::string()> &answer) {
  test::TempDir dir;
  CtlSocket socket(dir.path(), {}, getuid());
  std::string heard, got;
  std::thread server([&] {
    pollfd file = {socket.files()[0].get(), POLLIN, 0};
    poll(&file, 1, -1);
    socket.serve(file.fd, [&](const std::string &text) {
      heard = text;
      return answer();
    });
  });
  try {
    got = ask(dir.path(), command);
  } catch (const ovnitrace::Error &error) {
    got = error.what();
    if (const size_t at = got.find(dir.path()); at != got.npos)
      got.replace(at, dir.path().size(), "DIR");
  }
  server.join();
  return {heard, got};
}

using Talk = std::pair<std::string, std::string>;

TEST(CtlSocket, AnAnswerHasWhatIsBehindItsFirstLine) {
  EXPECT_EQ(talk("status", [] { return "ok\none\ntwo\n"; }), Talk("status", "one\ntwo\n"));
  EXPECT_EQ(talk("mark a b", [] { return "ok\n"; }), Talk("mark a b", ""));
  EXPECT_EQ(talk("mark one\ntwo", [] { return "ok\n"; }).first, "mark one");
}

TEST(CtlSocket, AnErrorIsItsSecondLine) {
  EXPECT_EQ(talk("stop", [] { return "error\nno chain\nmore\n"; }),
            Talk("stop", "ctl DIR stop: no chain"));
  EXPECT_EQ(talk("stop", [] { return "error"; }),
            Talk("stop", "ctl DIR stop: the capture has ended"));
  EXPECT_EQ(talk("save", []() -> std::string { throw ovnitrace::Error("a\nb: the disk is full"); })
                .second,
            "ctl DIR save: a?b: the disk is full");
}

TEST(CtlSocket, ACommandIsBounded) {
  const std::string heard = talk(std::string(2000, 'x'), [] { return "ok\n"; }).first;
  EXPECT_GE(heard.size(), 256u);
  EXPECT_LE(heard.size(), 256u + 512);
}

TEST(CtlSocket, AProcessIsReachedByItsNumber) {
  const auto pid = uint32_t(getpid());
  CtlSocket socket("", {pid + 1, pid}, getuid());
  ASSERT_EQ(socket.files().size(), 2u);
  const std::string sockets = test::text_of("/proc/net/unix");
  EXPECT_NE(sockets.find(" @ovnitrace-control-" + std::to_string(pid) + "\n"), sockets.npos)
      << "for those of other versions";
  std::thread server([&] {
    pollfd file = {socket.files()[1].get(), POLLIN, 0};
    poll(&file, 1, -1);
    socket.serve(file.fd, [](const std::string &) { return "ok\nhere\n"; });
  });
  EXPECT_EQ(ask(std::to_string(pid), "status"), "here\n");
  server.join();
}

TEST(CtlSocket, TheSocketOfAKilledCaptureIsReplacedAndOursIsRemoved) {
  test::TempDir dir;
  std::ofstream(dir / "control.sock") << "";
  {
    const CtlSocket socket(dir.path(), {}, getuid());
    EXPECT_EQ(socket.files().size(), 1u);
    EXPECT_EQ(access((dir / "control.sock").c_str(), F_OK), 0);
  }
  EXPECT_NE(access((dir / "control.sock").c_str(), F_OK), 0);
  EXPECT_TRUE(CtlSocket(dir / "none", {}, getuid()).files().empty());
}

TEST(CtlSocket, WhatCannotBeListenedAtIsSaidToThoseWhoAsk) {
  const test::TempDir dir;
  const auto pid = uint32_t(getpid());
  const CtlSocket first("", {pid}, getuid());
  set_debug_log(true);
  testing::internal::CaptureStderr();
  const CtlSocket second(dir / "none", {pid}, getuid());
  const std::string said = testing::internal::GetCapturedStderr(),
                    start = "ovnitrace: debug: ovnitrace ctl cannot reach this capture by ";
  set_debug_log(false);
  EXPECT_TRUE(second.files().empty());
  EXPECT_EQ(said, start + (dir / "none") + ": No such file or directory\n" + start + "process " +
                      std::to_string(pid) + ": Address already in use\n");
}

TEST(CtlSocket, OthersThanTheOwnerAndRootAreRefused) {
  if (getuid() != 0)
    GTEST_SKIP() << "only root can be two users";
  constexpr uid_t kNobody = 65534;
  for (const uid_t owner : {uid_t(12345), kNobody}) {
    CtlSocket socket("", {uint32_t(getpid())}, owner);
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const std::string pid = std::to_string(getpid());
    const pid_t child = fork();
    if (child == 0) {
      std::string got = "ok";
      if (setuid(kNobody) != 0)
        _exit(1);
      try {
        got += ask(pid, "status");
      } catch (const ovnitrace::Error &error) {
        got = error.what();
      }
      (void)!write(ends[1], got.data(), got.size());
      _exit(0);
    }
    close(ends[1]);
    pollfd file = {socket.files()[0].get(), POLLIN, 0};
    poll(&file, 1, -1);
    bool asked = false;
    socket.serve(file.fd, [&](const std::string &) {
      asked = true;
      return "ok\n";
    });
    char got[512] = {};
    (void)!read(ends[0], got, sizeof got - 1);
    close(ends[0]);
    waitpid(child, nullptr, 0);
    EXPECT_EQ(asked, owner == kNobody);
    EXPECT_EQ(std::string(got), owner == kNobody ? "ok"
                                                 : "ctl " + pid +
                                                       " status: only the owner of the capture and "
                                                       "root may control it");
  }
}

TEST(CtlSocket, RootMayControlTheCaptureOfAnother) {
  if (getuid() != 0)
    GTEST_SKIP() << "this test is not root";
  test::TempDir dir;
  CtlSocket socket(dir.path(), {}, 65534);
  std::thread server([&] {
    pollfd file = {socket.files()[0].get(), POLLIN, 0};
    poll(&file, 1, -1);
    socket.serve(file.fd, [](const std::string &) { return "ok\nhere\n"; });
  });
  std::string got;
  EXPECT_NO_THROW(got = ask(dir.path(), "status"));
  server.join();
  EXPECT_EQ(got, "here\n");
}

// A person may give a trace any name.
TEST(CtlSocket, ADirectoryWithTheNameOfANumberIsADirectory) {
  const test::TempDir dir;
  std::filesystem::create_directory(dir / "4711");
  const test::WorkIn here(dir.path());
  EXPECT_EQ(error_of("4711"), "ctl 4711: no capture is running there: it has ended");
  EXPECT_EQ(error_of("4711x"), "ctl 4711x: No such file or directory");
}

TEST(CtlSocket, SaysWhyACaptureCannotBeReached) {
  test::TempDir dir;
  const UniqueFd other(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  (dir / "control.sock").copy(address.sun_path, sizeof(address.sun_path) - 1);
  ASSERT_EQ(bind(other.get(), reinterpret_cast<sockaddr *>(&address), sizeof address), 0);
  EXPECT_EQ(error_of(dir.path()),
            "ctl " + dir.path() +
                ": the capture cannot be reached: Protocol wrong type for socket");
}

TEST(CtlSocket, TheFileOfAnotherUserMayNotBeUsed) {
  if (getuid() != 0)
    GTEST_SKIP() << "only root can be two users";
  test::TempDir dir;
  ASSERT_EQ(chmod(dir.path().c_str(), 0755), 0);
  const CtlSocket socket(dir.path(), {}, 0);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    const std::string got = setuid(65534) == 0 ? error_of(dir.path()) : "";
    (void)!write(ends[1], got.data(), got.size());
    _exit(0);
  }
  close(ends[1]);
  char got[512] = {};
  (void)!read(ends[0], got, sizeof got - 1);
  close(ends[0]);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(std::string(got),
            "ctl " + dir.path() + ": only the owner of the capture and root may control it");
}

TEST(CtlSocket, ACallerThatHasGoneIsLeftAlone) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  close(ends[1]);
  const auto before = std::signal(SIGPIPE, SIG_DFL); // it would end us
  send_answer(ends[0], "ok\n");
  std::signal(SIGPIPE, before);
  close(ends[0]);
}

TEST(CtlSocket, SavingAndStoppingMayTakeAnyTime) {
  for (const char *command : {"save", "stop"}) {
    test::TempDir dir;
    CtlSocket socket(dir.path(), {}, getuid());
    std::thread server([&] {
      pollfd file = {socket.files()[0].get(), POLLIN, 0};
      poll(&file, 1, -1);
      socket.serve(file.fd, [](const std::string &) { return "ok\nit is done\n"; });
    });
    std::string got;
    EXPECT_NO_THROW(got = ask(dir.path(), command, 0)) << command;
    server.join();
    EXPECT_EQ(got, "it is done\n");
  }
}

TEST(CtlSocket, AnAnswerIsBounded) {
  constexpr size_t kMost = 16 << 20;
  const std::string got =
      talk("status", [] { return "ok\n" + std::string(kMost + 4096, 'x'); }).second;
  EXPECT_GE(got.size(), kMost - 3);
  EXPECT_LE(got.size(), kMost + 512);
}

} // namespace
} // namespace ovnitrace::control
