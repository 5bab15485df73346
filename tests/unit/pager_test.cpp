// SPDX-License-Identifier: BSD-2-Clause
// Which pager is chosen, and which lines of a report are headings.
#include "emulator/cli/app.h"
#include "emulator/cli/pager.h"
#include "emulator/cli/terminal_options.h"

#include <CLI/App.hpp>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace ovnitrace {
namespace {

TEST(PagerCommand, IsTheConfiguredOneThenThatOfTheEnvironment) {
  setenv("PAGER", "more", 1);
  setenv("OVNITRACE_PAGER", "most", 1);
  EXPECT_EQ(pager_command("less -S"), "less -S");
  EXPECT_EQ(pager_command(""), "most");
  unsetenv("OVNITRACE_PAGER");
  EXPECT_EQ(pager_command(""), "more");
  setenv("PAGER", "cat", 1);
  EXPECT_EQ(pager_command(""), "");
  setenv("PAGER", "", 1);
  EXPECT_EQ(pager_command(""), "");
  setenv("PAGER", "  ", 1);
  EXPECT_EQ(pager_command(""), "");
  unsetenv("PAGER");
  EXPECT_EQ(pager_command(""), "less");
}

std::string colored(const char *when, const std::string &text) {
  CLI::App app;
  add_terminal_options(app);
  app.parse(std::vector<std::string>{when, "--color"}); // reversed
  const std::string result = with_headings(text);
  CLI::App again;
  add_terminal_options(again);
  again.parse(std::vector<std::string>{"auto", "--color"});
  return result;
}

TEST(Headings, AreBoldWhenColoursAreWanted) {
  const std::string text = "HOW LONG   p50\n  TIME  THREAD  %\nWhat ran:\n  a:\n12 ms\n";
  EXPECT_EQ(colored("never", text), text);
  EXPECT_EQ(colored("always", text),
            "\x1b[1mHOW LONG   p50\x1b[m\n"
            "\x1b[1m  TIME  THREAD  %\x1b[m\n\x1b[1mWhat ran:\x1b[m\n  a:\n12 ms\n");
  EXPECT_EQ(colored("auto", text), text) << "standard output of a test is no terminal";
}

TEST(Headings, HaveThreeCapitalsAndNoOtherLettersOrDigits) {
  for (const char *line : {"ABC", "  THREAD  %", "CAUSE  p50  p90  p99  MAX", "What ran:", ":"})
    EXPECT_EQ(colored("always", line), "\x1b[1m" + std::string(line) + "\x1b[m") << line;
  for (const char *line : {"AB", "ABC 1", "ABC d", "CAUSE  p95", " What ran:", "", "   "})
    EXPECT_EQ(colored("always", line), line);
}

} // namespace
} // namespace ovnitrace
