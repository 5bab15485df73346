// SPDX-License-Identifier: BSD-2-Clause
// Where a collector says that it listens, and what it refuses before anybody sends:
// user/net/collector.
#include "user/net/collector.h"

#include "emulator/base/error.h"
#include "tests/unit/support/temp_dir.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>

namespace ovnitrace {
namespace {

constexpr const char *kAnybody =
    "ovnitrace: warning: anybody who reaches (udp|tcp)://0.0.0.0:[0-9]+ can write traces here, and "
    "anybody on the way can read them; tcp:// with --key FILE prevents both\n";

/// Collects in this process, which a signal has asked to stop before. Prints the error, if any.
[[noreturn]] void run(const CollectOptions &options) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  raise(SIGTERM);
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

} // namespace
} // namespace ovnitrace
