// SPDX-License-Identifier: BSD-2-Clause
// What commands print on a terminal: through a pager, with bold headings; and into a closed pipe.
#include "emulator/base/short_line.h"
#include "tests/e2e/support/e2e.h"
#include "tests/e2e/support/terminal.h"

#include <sstream>

namespace ovnitrace::test {

class TerminalOutput : public CaptureTest {
protected:
  void SetUp() override {
    CaptureTest::SetUp();
    if (!IsSkipped())
      record({"true"});
  }
  /// What a terminal shows of a command with these variables.
  std::string shown(std::vector<std::string> variables, std::vector<std::string> words) const {
    std::vector<std::string> argv = {"/usr/bin/env",    "-u",        "NO_COLOR", "-u",
                                     "OVNITRACE_PAGER", "TERM=xterm"};
    argv.insert(argv.end(), variables.begin(), variables.end());
    argv.push_back(ovnitrace());
    argv.insert(argv.end(), words.begin(), words.end());
    Terminal terminal(argv);
    EXPECT_EQ(terminal.wait(), 0);
    return terminal.printed();
  }
};

TEST_F(TerminalOutput, GoesThroughThePagerThatIsChosen) {
  const std::string mark = "sed s/^/PAGED:/";
  EXPECT_EQ(shown({"PAGER=" + mark}, {"why", trace()}).find("PAGED:"), 0u);
  EXPECT_EQ(shown({"PAGER=false", "OVNITRACE_PAGER=" + mark}, {"info", trace()}).find("PAGED:"),
            0u);
  EXPECT_EQ(shown({"PAGER=false"}, {"dump", trace(), "--pager", mark}).find("PAGED:"), 0u);
  EXPECT_EQ(shown({"PAGER=" + mark}, {"why", trace(), "--no-pager"}).find("PAGED:"),
            std::string::npos);
  EXPECT_EQ(shown({"PAGER=" + mark, "TERM=dumb"}, {"why", trace()}).find("PAGED:"),
            std::string::npos);
}

TEST_F(TerminalOutput, AppearsIfThePagerDoesNotExist) {
  const std::string text = shown({"PAGER=/no/such/pager"}, {"why", trace()});
  EXPECT_NE(text.find("cannot start the pager /no/such/pager: No such file"), text.npos) << text;
  EXPECT_NE(text.find("WHERE THE TIME WENT"), text.npos) << text;
}

TEST_F(TerminalOutput, EndsQuietlyIfThePagerIsLeft) {
  EXPECT_EQ(shown({"PAGER=true"}, {"dump", trace()}), "");
}

TEST_F(TerminalOutput, HasBoldHeadingsUnlessTheyAreRefused) {
  const std::string bold = "\x1b[1mWHERE THE TIME WENT";
  EXPECT_NE(shown({"PAGER=cat"}, {"why", trace()}).find(bold), std::string::npos);
  for (const char *variable : {"NO_COLOR=1", "TERM=dumb"})
    EXPECT_EQ(shown({"PAGER=cat", variable}, {"why", trace()}).find('\x1b'), std::string::npos);
  EXPECT_EQ(shown({"PAGER=cat"}, {"why", trace(), "--color", "never"}).find('\x1b'),
            std::string::npos);
  const Outcome piped = run({.argv = {ovnitrace(), "why", trace(), "--color", "always"}});
  EXPECT_NE(piped.out.find(bold), std::string::npos);
}

TEST_F(TerminalOutput, FitsWordsIntoTwentyColumns) {
  const std::vector<std::string> commands = {"why", "info", "dump", "plot",
                                             "diff '" + trace() + "'"};
  for (const std::string &command : commands) {
    Terminal terminal({"/bin/sh", "-c",
                       "stty cols 20; TERM=xterm PAGER=cat NO_COLOR=1 exec '" + ovnitrace() + "' " +
                           command + " '" + trace() + "'"});
    EXPECT_EQ(terminal.wait(), 0) << command;
    EXPECT_NE(terminal.printed().find("true"), std::string::npos) << terminal.printed();
    if (command != "why" && command != "info")
      continue; // the others start with a table
    std::istringstream lines(terminal.printed());
    size_t sentences = 0;
    for (std::string line; std::getline(lines, line) && line != "\r"; sentences++)
      EXPECT_LE(line.size(), 20u + 1) << line; // and \r
    EXPECT_GE(sentences, 3u) << terminal.printed();
  }
}

TEST_F(TerminalOutput, FitsIntoEightyColumns) {
  const std::vector<std::string> commands = {"why '" + trace() + "'", "info '" + trace() + "'",
                                             "diff '" + trace() + "' '" + trace() + "'",
                                             "stat -- sleep 0.01"};
  for (const std::string &command : commands) {
    Terminal terminal(
        {"/bin/sh", "-c",
         "stty cols 80; TERM=xterm PAGER=cat NO_COLOR=1 exec '" + ovnitrace() + "' " + command});
    EXPECT_EQ(terminal.wait(), 0) << command;
    std::istringstream lines(terminal.printed());
    for (std::string line; std::getline(lines, line);)
      EXPECT_LE(columns_of(line.substr(0, line.find('\r'))), 80u) << command << ": " << line;
  }
}

TEST_F(TerminalOutput, IntoAClosedPipeEndsQuietly) {
  const std::string quoted = " '" + trace() + "'";
  const std::vector<std::string> commands = {"dump" + quoted,
                                             "info" + quoted,
                                             "why" + quoted,
                                             "plot" + quoted,
                                             "diff" + quoted + quoted,
                                             "info --json" + quoted,
                                             "config",
                                             "control --check start:enter_func:f",
                                             "record --dry-run -a"};
  for (const std::string &command : commands) {
    const Outcome outcome =
        run({.argv = {"/bin/bash", "-c",
                      "'" + ovnitrace() + "' " + command + " | true; exit ${PIPESTATUS[0]}"}});
    EXPECT_EQ(outcome.status(), 0) << command;
    EXPECT_EQ(outcome.err, "") << command;
  }
}

TEST_F(TerminalOutput, FollowsTheConfigurationOfTheUser) {
  const std::string folder = path("home/ovnitrace");
  run({.argv = {"mkdir", "-p", folder}});
  write_text(folder + "/config", "[why]\ncolor = always\n");
  const std::map<std::string, std::string> home = {{"XDG_CONFIG_HOME", path("home")}};
  const Outcome why = run({.argv = {ovnitrace(), "why", trace()}, .env = home});
  EXPECT_NE(why.out.find('\x1b'), std::string::npos);
  const Outcome config = run({.argv = {ovnitrace(), "config"}, .env = home});
  EXPECT_NE(config.out.find("why      color   always  " + folder + "/config:2"), std::string::npos)
      << config.out;
  write_text(folder + "/config", "[why]\ncolour = always\n");
  const Outcome broken = run({.argv = {ovnitrace(), "info", trace()}, .env = home});
  EXPECT_EQ(broken.status(), 2);
  EXPECT_NE(broken.err.find(folder + "/config:2:10: why has no option --colour"), std::string::npos)
      << broken.err;
}

TEST_F(TerminalOutput, RecordsUnderSudoWithoutTheConfigurationOfTheCaller) {
  const std::string folder = path("home/ovnitrace");
  run({.argv = {"mkdir", "-p", folder}});
  write_text(folder + "/config", "this is broken\n");
  const auto status = [&](std::map<std::string, std::string> more) {
    more["XDG_CONFIG_HOME"] = path("home");
    Command command = record_command(path("again"), {"true"}, {"-f"});
    command.env = more;
    return run(command).status();
  };
  EXPECT_EQ(status({}), 2);
  EXPECT_EQ(status({{"SUDO_UID", "0"}, {"SUDO_GID", "0"}}), 0);
}

} // namespace ovnitrace::test
