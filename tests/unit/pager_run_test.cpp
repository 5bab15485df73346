// SPDX-License-Identifier: BSD-2-Clause
// A pager that runs: standard output is a terminal here.
#include "emulator/base/unique_fd.h"
#include "emulator/cli/app.h"
#include "emulator/cli/pager.h"
#include "emulator/cli/terminal_options.h"
#include "tests/unit/support/files.h"
#include "tests/unit/support/temp_dir.h"

#include <CLI/App.hpp>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace ovnitrace {
namespace {

class PagerRun : public testing::Test {
protected:
  PagerRun() {
    UniqueFd terminal(open(ptsname(leader_.get()), O_RDWR | O_NOCTTY | O_CLOEXEC));
    standard_output_ = UniqueFd(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
    dup2(terminal.get(), STDOUT_FILENO);
    setenv("TERM", "xterm", 1);
    for (const char *name : {"PAGER", "OVNITRACE_PAGER", "LESS", "LV"})
      unsetenv(name);
  }
  ~PagerRun() override {
    dup2(standard_output_.get(), STDOUT_FILENO);
    use_pager(true);
    configure_pager("");
    unsetenv("LESS");
    unsetenv("LV");
  }

  /// Makes a program of a script. It reads what it is given to the end.
  std::string program(const std::string &script) {
    const std::string path = directory_ / "pager";
    std::ofstream(path) << "#!/bin/sh\n" << script << "\ncat > " << directory_ / "text" << '\n';
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }
  static void write_to(const Pager &pager, const std::string &text) {
    EXPECT_EQ(write(pager.fd(), text.data(), text.size()), ssize_t(text.size()));
  }
  void expect_none() {
    configure_pager(program(""));
    EXPECT_EQ(Pager().fd(), STDOUT_FILENO);
    EXPECT_FALSE(std::filesystem::exists(directory_ / "text"));
  }

  const test::TempDir directory_;

private:
  static UniqueFd open_leader() {
    UniqueFd leader(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
    EXPECT_EQ(grantpt(leader.get()) + unlockpt(leader.get()), 0);
    return leader;
  }
  const UniqueFd leader_ = open_leader();
  UniqueFd standard_output_;
};

sighandler_t interrupt_handler() {
  struct sigaction action = {};
  sigaction(SIGINT, nullptr, &action);
  return action.sa_handler;
}

TEST_F(PagerRun, IsGivenTheTextAndAwaited) {
  configure_pager(program(""));
  Pager pager;
  EXPECT_NE(pager.fd(), STDOUT_FILENO);
  write_to(pager, "one\n");
  write_to(pager, "two\n");
  pager.finish();
  EXPECT_EQ(test::text_of(directory_ / "text"), "one\ntwo\n");
  EXPECT_EQ(pager.fd(), STDOUT_FILENO) << "what follows is not for a pager that has ended";
}

TEST_F(PagerRun, IsAwaitedByItsDestructor) {
  configure_pager(program(""));
  {
    const Pager pager;
    write_to(pager, "text");
  }
  EXPECT_EQ(test::text_of(directory_ / "text"), "text");
}

TEST_F(PagerRun, GetsTheWordsOfItsCommandAsArguments) {
  const std::string arguments = directory_ / "arguments";
  configure_pager(program("printf '%s,' \"$@\" > " + arguments) + "  -a   b! ");
  Pager().finish();
  EXPECT_EQ(test::text_of(arguments), "-a,b!,");
}

TEST_F(PagerRun, IsRunByAShellThatTheCommandIsWrittenFor) {
  const std::string arguments = directory_ / "arguments";
  const std::string pager = program("printf '%s,' $SET \"$@\" > " + arguments);
  const auto given = [&](const std::string &command) {
    configure_pager(command);
    Pager().finish();
    return test::text_of(arguments);
  };
  EXPECT_EQ(given(pager + " 'a b' c"), "a b,c,");
  EXPECT_EQ(given("SET=x " + pager + " y"), "x,y,");
  EXPECT_EQ(given(pager + " $((1 + 1))"), "2,");
  EXPECT_EQ(given("cat | " + pager), ",");
}

TEST_F(PagerRun, IsToldToBehaveAsThatOfGitDoes) {
  const std::string options = directory_ / "options";
  configure_pager(program("echo \"$LESS $LV\" > " + options));
  Pager().finish();
  EXPECT_EQ(test::text_of(options), "FRX -c\n");
  setenv("LESS", "S", 1);
  setenv("LV", "-k", 1);
  Pager().finish();
  EXPECT_EQ(test::text_of(options), "S -k\n") << "the person's own options stay";
}

TEST_F(PagerRun, TakesInterruptsToItselfUntilItEnds) {
  configure_pager(program(""));
  std::signal(SIGINT, SIG_DFL);
  Pager pager;
  EXPECT_EQ(interrupt_handler(), SIG_IGN);
  pager.finish();
  EXPECT_EQ(interrupt_handler(), SIG_DFL);
}

TEST_F(PagerRun, IsNotStartedWhereNobodyWantsIt) {
  use_pager(false);
  expect_none();
  use_pager(true);
  setenv("PAGER", "cat", 1);
  configure_pager("");
  EXPECT_EQ(Pager().fd(), STDOUT_FILENO);
}

TEST_F(PagerRun, IsNotStartedOnATerminalThatCannotMoveItsCursor) {
  setenv("TERM", "dumb", 1);
  expect_none();
  unsetenv("TERM");
  expect_none();
  setenv("TERM", "xterm", 1);
}

TEST_F(PagerRun, IsNotStartedWhereStandardOutputIsAFile) {
  const UniqueFd file(open((directory_ / "output").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  dup2(file.get(), STDOUT_FILENO);
  expect_none();
}

TEST_F(PagerRun, ThatDoesNotStartIsReportedAndTheOutputFollows) {
  configure_pager("/nowhere/pager -x");
  testing::internal::CaptureStderr();
  Pager pager;
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "ovnitrace: cannot start the pager /nowhere/pager -x: No such file or directory; the "
            "output follows without one\n");
  EXPECT_EQ(pager.fd(), STDOUT_FILENO);
}

/// As without --color, whatever an earlier test has given.
class TerminalColours : public PagerRun {
protected:
  TerminalColours() {
    CLI::App app;
    add_terminal_options(app);
    app.parse(std::vector<std::string>{"auto", "--color"}); // reversed
  }
};

TEST_F(TerminalColours, AreOnATerminalThatHasThemUnlessAPersonWantsNone) {
  unsetenv("NO_COLOR");
  EXPECT_TRUE(wants_colors());
  setenv("NO_COLOR", "", 1);
  EXPECT_TRUE(wants_colors()) << "empty is as if it were not set";
  setenv("NO_COLOR", "1", 1);
  EXPECT_FALSE(wants_colors());
  unsetenv("NO_COLOR");
  setenv("TERM", "dumb", 1);
  EXPECT_FALSE(wants_colors());
  unsetenv("TERM");
  EXPECT_TRUE(wants_colors());
  setenv("TERM", "xterm", 1);
}

} // namespace
} // namespace ovnitrace
