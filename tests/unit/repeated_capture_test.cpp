// SPDX-License-Identifier: BSD-2-Clause
// A capture in a process of its own, and the words of a command line that --against gives:
// user/cli/repeated_capture.
#include "user/cli/repeated_capture.h"

#include "emulator/base/error.h"
#include "tests/unit/support/error_from.h"
#include "tests/unit/support/temp_dir.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <pwd.h>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <vector>

namespace ovnitrace {
namespace {

using Words = std::vector<std::string>;

TEST(AgainstWords, AreThoseOfAShell) {
  EXPECT_EQ(words_of("app"), Words{"app"});
  EXPECT_EQ(words_of("  ./app --new  'a b' \"c d\" e\\ f "),
            (Words{"./app", "--new", "a b", "c d", "e f"}));
  setenv("OVNITRACE_TEST_WORD", "one two", 1);
  EXPECT_EQ(words_of("a $OVNITRACE_TEST_WORD \"$OVNITRACE_TEST_WORD\""),
            (Words{"a", "one", "two", "one two"}));
  unsetenv("OVNITRACE_TEST_WORD");
}

TEST(AgainstWords, ArePatternsOfFiles) {
  const test::TempDir dir;
  for (const char *name : {"b.txt", "a.txt", "c.bin"})
    std::ofstream(dir / name).put('x');
  EXPECT_EQ(words_of("cat " + (dir / "*.txt")), (Words{"cat", dir / "a.txt", dir / "b.txt"}));
}

TEST(AgainstWords, AreThoseOfTheUserOfSudo) {
  if (geteuid() != 0)
    GTEST_SKIP() << "only root has a user of sudo";
  const test::TempDir dir; // only root may see its files
  std::ofstream(dir / "secret").put('x');
  const auto test = [&] {
    setenv("SUDO_UID", "65534", 1);
    setenv("SUDO_GID", "65533", 1);
    setenv("HOME", "/root", 1);
    const Words words = words_of((dir / "*") + " ~/app");
    std::fprintf(stderr, "%s", (words[0] + " " + words[1]).c_str());
    _exit(0);
  };
  const passwd *nobody = getpwuid(65534);
  ASSERT_NE(nobody, nullptr);
  EXPECT_EXIT(test(), testing::ExitedWithCode(0), "/\\* " + std::string(nobody->pw_dir) + "/app$");
}

TEST(AgainstWords, NothingThatOnlyAShellCanRunIsTaken) {
  for (const std::string command : {"", "  ", "a | b", "a; b", "a > b", "a & b", "a $(b)", "a `b`",
                                    "a 'b", "a $OVNITRACE_TEST_NOT_SET"}) {
    try {
      words_of(command);
      ADD_FAILURE() << command;
    } catch (const Error &error) {
      EXPECT_EQ(error.status(), kExitUsage);
      EXPECT_EQ(error.what(), "--against '" + command +
                                  "' is no plain command line: for pipes and the like, write 'sh "
                                  "-c \"…\"'");
    }
  }
}

TEST(RecordApartResult, IsThatOfTheOtherProcess) {
  RecordOptions given;
  given.directory = "there";
  const std::string much(100'000, 'x'); // more than a pipe holds
  const RepeatedResult result =
      record_apart(given, [&, here = getpid()](const RecordOptions &options) {
        RecordResult recorded;
        recorded.exit_status = 7;
        recorded.missing = options.directory + (getpid() == here ? " here" : " apart\xff") + much;
        return recorded;
      });
  EXPECT_EQ(result.exit_status, 7);
  EXPECT_TRUE(result.missing == "there apart\xef\xbf\xbd" + much) << result.missing.substr(0, 50);
}

TEST(RecordApartResult, IsAnyErrorOfTheOtherProcess) {
  EXPECT_EQ(test::error_with(77,
                             [] {
                               record_apart({}, [](const RecordOptions &) -> RecordResult {
                                 throw Error("no room", Error::Status{77});
                               });
                             }),
            "no room");
  EXPECT_EQ(test::failure_from([] {
              record_apart({}, [](const RecordOptions &) -> RecordResult {
                throw std::runtime_error("no thread");
              });
            }),
            "no thread");
  EXPECT_EQ(test::failure_from(
                [] { record_apart({}, [](const RecordOptions &) -> RecordResult { _exit(0); }); }),
            "the process that recorded has died");
}

TEST(RecordAlternately, HasATraceOfEachRunAndTheFirstFailure) {
  RecordOptions options;
  options.directory = "place";
  ComparedTraces traces;
  testing::internal::CaptureStderr();
  // Each run says what it was given, and fails if it is not the first one.
  const int status =
      record_alternately(options, {{"a", "1"}, {"b"}}, 2, traces, [](const RecordOptions &given) {
        RecordResult recorded;
        recorded.exit_status = given.directory.back() - '0';
        recorded.missing = given.command[0] + " in " + given.directory;
        return recorded;
      });
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "ovnitrace: run 1: a in place/0\n"
                                                    "ovnitrace: run 1: b in place/1\n"
                                                    "ovnitrace: run 2: a in place/2\n"
                                                    "ovnitrace: run 2: b in place/3\n");
  EXPECT_EQ(status, 1);
  EXPECT_EQ(traces.a, (std::vector<std::string>{"place/0", "place/2"}));
  EXPECT_EQ(traces.b, (std::vector<std::string>{"place/1", "place/3"}));
}

/// A capture that sends its parent a signal, again and again, until a signal ends it or the parent
/// has ended.
RecordResult ask_to_end(pid_t parent, int signal) {
  for (const timespec pause = {0, 1'000'000}; getppid() == parent; nanosleep(&pause, nullptr))
    kill(parent, signal);
  return {};
}

TEST(RecordApartSignals, ArePassedOnAndEndUsToo) {
  for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM}) {
    const auto test = [&] {
      std::signal(signal, SIG_DFL); // the tests may run under nohup
      try {
        record_apart({}, [&, parent = getpid()](const RecordOptions &) {
          return ask_to_end(parent, signal);
        });
      } catch (const Error &error) {
        std::fprintf(stderr, "%s\n", error.what());
        _exit(error.status());
      }
      _exit(0);
    };
    EXPECT_EXIT(test(), testing::ExitedWithCode(128 + signal),
                "^ended by signal " + std::to_string(signal) + "\n$");
  }
}

TEST(RecordApartSignals, OneThatIsIgnoredEndsNobody) {
  const auto test = [] {
    std::signal(SIGHUP, SIG_IGN); // as nohup does
    _exit(record_apart({}, [](const RecordOptions &) {
            kill(getppid(), SIGHUP);
            kill(getpid(), SIGHUP);
            RecordResult recorded;
            recorded.exit_status = 7;
            return recorded;
          }).exit_status);
  };
  EXPECT_EXIT(test(), testing::ExitedWithCode(7), "");
}

} // namespace
} // namespace ovnitrace
