// SPDX-License-Identifier: BSD-2-Clause
// Where a collector says that it listens, and what it refuses before anybody sends:
// user/net/collector.
#include "user/net/collector.h"

#include "emulator/base/error.h"
#include "tests/unit/support/temp_dir.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace ovnitrace {
namespace {

constexpr const char *kAnybody =
    "ovnitrace: warning: anybody who reaches (udp|tcp)://0.0.0.0:[0-9]+ can write traces here, and "
    "anybody on the way can read them; tcp:// with --key FILE prevents both\n";

/// Sends this process a signal, which waits until somebody takes it.
void raise_later(int signal) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  std::signal(SIGHUP, SIG_DFL); // the tests may run under nohup
  raise(signal);
}

/// Collects in this process, which a signal has asked to stop before. Prints the error, if any.
[[noreturn]] void run(const CollectOptions &options, int signal = SIGTERM) {
  raise_later(signal);
  try {
    _exit(collect(options));
  } catch (const Error &error) {
    std::fprintf(stderr, "%s\n", error.what());
    _exit(99);
  }
}

class CollectorTest : public testing::Test {
protected:
  CollectOptions options(const std::vector<std::string> &listen) const {
    CollectOptions options;
    options.directory = dir_ / "traces";
    for (const std::string &text : listen)
      options.listen.push_back(parse_endpoint("--listen", text));
    return options;
  }
  test::TempDir dir_;
};

TEST_F(CollectorTest, SaysWhereItListensAndEndsAtASignal) {
  EXPECT_EXIT(run(options({"tcp://127.0.0.1:0", "udp://127.0.0.1:0", "tcp://[::1]:0"})),
              testing::ExitedWithCode(0),
              "^ovnitrace: listening on tcp://127.0.0.1:[0-9]+\n"
              "ovnitrace: listening on udp://127.0.0.1:[0-9]+\n"
              "ovnitrace: listening on tcp://\\[::1\\]:[0-9]+\n$");
  EXPECT_TRUE(std::filesystem::is_directory(dir_ / "traces"));
}

TEST_F(CollectorTest, MakesADirectoryThatAllMayRead) {
  const auto test = [&] {
    umask(0);
    run(options({"tcp://127.0.0.1:0"}));
  };
  EXPECT_EXIT(test(), testing::ExitedWithCode(0), "");
  EXPECT_EQ(int(std::filesystem::status(dir_ / "traces").permissions()), 0755);
}

TEST_F(CollectorTest, EndsAtEachSignalThatAsksItTo) {
  for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP})
    EXPECT_EXIT(run(options({"tcp://127.0.0.1:0"}), signal), testing::ExitedWithCode(0),
                "^ovnitrace: listening on tcp://127.0.0.1:[0-9]+\n$")
        << signal;
}

// A full disk and a reader of the log that has gone are errors, and no signals that end it.
TEST_F(CollectorTest, HasRoomForItsSendersAndIsNotEndedByItsOutput) {
  const auto test = [&] {
    std::signal(SIGPIPE, SIG_DFL);
    std::signal(SIGXFSZ, SIG_DFL);
    rlimit limit = {};
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = 100;
    setrlimit(RLIMIT_NOFILE, &limit);
    raise_later(SIGTERM);
    CollectOptions two = options({"tcp://127.0.0.1:0", "tcp://127.0.0.1:0"});
    two.senders = 10;
    const int status = collect(two);
    getrlimit(RLIMIT_NOFILE, &limit);
    // Each sender, and each of 128 connections before, has three files.
    std::fprintf(stderr, "%d %llu %d %d\n", status, (unsigned long long)limit.rlim_cur,
                 std::signal(SIGPIPE, SIG_DFL) == SIG_IGN,
                 std::signal(SIGXFSZ, SIG_DFL) == SIG_IGN);
    _exit(0);
  };
  EXPECT_EXIT(test(), testing::ExitedWithCode(0), "\n0 928 1 1\n$");
}

// What comes from the network might find a hole: no program can be started through it.
TEST_F(CollectorTest, StartsNoProgramWhileItCollects) {
  if (prctl(PR_GET_SECCOMP) < 0)
    GTEST_SKIP() << "this kernel has no seccomp";
  const auto test = [&] {
    raise_later(SIGTERM);
    collect(options({"tcp://127.0.0.1:0"}));
    execl("/bin/true", "true", nullptr);
    std::fprintf(stderr, "%s\n", std::strerror(errno));
    _exit(0);
  };
  EXPECT_EXIT(test(), testing::ExitedWithCode(0), "\nOperation not permitted\n$");
}

TEST_F(CollectorTest, WarnsOfWhatOthersReachWithoutAKey) {
  EXPECT_EXIT(run(options({"tcp://0.0.0.0:0"})), testing::ExitedWithCode(0),
              std::string("^ovnitrace: listening on tcp://0.0.0.0:[0-9]+\n") + kAnybody + "$");
  CollectOptions keyed = options({"tcp://0.0.0.0:0"});
  keyed.key_file = dir_ / "key";
  std::ofstream(keyed.key_file) << "0123456789abcdef";
  chmod(keyed.key_file.c_str(), 0600);
  EXPECT_EXIT(run(keyed), testing::ExitedWithCode(0),
              "^ovnitrace: listening on tcp://0.0.0.0:[0-9]+\n$");
  keyed.listen = options({"udp://0.0.0.0:0"}).listen;
  EXPECT_EXIT(run(keyed), testing::ExitedWithCode(0),
              std::string("^ovnitrace: listening on udp://0.0.0.0:[0-9]+\n") + kAnybody + "$")
      << "datagrams are not encrypted";
}

TEST_F(CollectorTest, RefusesADirectoryThatCannotBe) {
  CollectOptions wrong = options({"tcp://127.0.0.1:0"});
  wrong.directory = dir_ / "none/traces";
  EXPECT_EXIT(run(wrong), testing::ExitedWithCode(99),
              "^cannot make the directory " + wrong.directory +
                  ": No such file or directory; choose another with -o\n$");
  wrong.directory = dir_ / "file";
  std::ofstream(wrong.directory).close();
  EXPECT_EXIT(run(wrong), testing::ExitedWithCode(99),
              "^cannot write to the directory " + wrong.directory +
                  ": Not a directory; choose another with -o\n$");
}

TEST_F(CollectorTest, RefusesADirectoryOfOthers) {
  const CollectOptions foreign = options({"tcp://127.0.0.1:0"});
  ASSERT_TRUE(std::filesystem::create_directory(foreign.directory));
  chmod(dir_.path().c_str(), 0755);
  const auto test = [&] {
    constexpr uid_t kNobody = 65534;
    if (geteuid() == 0 && seteuid(kNobody) != 0)
      _exit(1);
    run(foreign);
  };
  for (const mode_t mode : {0555, 0666}) { // it may not write there, or not enter it
    chmod(foreign.directory.c_str(), mode);
    EXPECT_EXIT(test(), testing::ExitedWithCode(99),
                "^cannot write to the directory " + foreign.directory +
                    ": Permission denied; choose another with -o\n$");
  }
}

TEST_F(CollectorTest, TakesADirectoryThatIsThereAndNoWrongKey) {
  CollectOptions there = options({"tcp://127.0.0.1:0"});
  ASSERT_TRUE(std::filesystem::create_directory(there.directory));
  EXPECT_EXIT(run(there), testing::ExitedWithCode(0), "");
  there.key_file = dir_ / "none";
  EXPECT_EXIT(run(there), testing::ExitedWithCode(99),
              "^--key " + there.key_file + ": cannot be read: No such file or directory\n$");
}

} // namespace
} // namespace ovnitrace
