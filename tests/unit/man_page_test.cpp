// SPDX-License-Identifier: BSD-2-Clause
// The manual pages, which are made of the tables behind --help.
#include "emulator/cli/man_page.h"
#include "tests/unit/support/all_commands.h"
#include "tests/unit/support/project_file.h"
#include "tests/unit/support/temp_dir.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>

namespace ovnitrace {
namespace {

/// Returns what the command writes to standard output.
std::string output_of(const std::string &command) {
  std::FILE *const pipe = popen(command.c_str(), "r");
  if (!pipe)
    throw std::runtime_error("cannot run " + command);
  std::string text;
  char part[4096];
  while (const size_t n = std::fread(part, 1, sizeof part, pipe))
    text.append(part, n);
  pclose(pipe);
  return text;
}

class ManPage : public test::AllCommands {
protected:
  std::string page_of(const CLI::App &one) const { return man_page(one, app, "2026-01-02"); }
};

/// Returns the text of a page as it is shown, without fonts.
std::string shown(std::string page) {
  const std::pair<const char *, const char *> kEscapes[] = {
      {"\\fB", ""}, {"\\fR", ""}, {"\\-", "-"}, {"\\(aq", "'"}, {"\\e", "\\"}, {"\\&", ""}};
  for (const auto &[escape, text] : kEscapes)
    for (size_t at = 0; (at = page.find(escape, at)) != page.npos;)
      page.replace(at, std::string(escape).size(), text);
  return page;
}

std::string squeezed(const std::string &name) {
  return name.substr(name.find_first_not_of(' '));
}

TEST_F(ManPage, HasEachOptionAndItsText) {
  for (const CLI::App *one : commands()) {
    const std::string page = shown(page_of(*one));
    for (const CLI::Option *option : one->get_options()) {
      EXPECT_NE(page.find("\n" + squeezed(shown_name(*option)) + "\n"), page.npos)
          << option->get_name();
      std::string text = option->get_description();
      std::erase(text, '`');
      EXPECT_NE(page.find("\n" + text + "\n"), page.npos) << text;
    }
  }
}

TEST_F(ManPage, ThePageOfTheProgramHasEachCommand) {
  const std::string page = shown(page_of(app));
  for (const CLI::App *one : app.get_subcommands([](const CLI::App *) { return true; }))
    EXPECT_NE(page.find("\novnitrace-" + one->get_name() + "(1)\n" + one->get_description()),
              page.npos)
        << one->get_name();
}

TEST_F(ManPage, HasTheExamplesOfTheHelp) {
  for (const CLI::App *one : commands()) {
    const std::string footer = one->get_footer(), page = shown(page_of(*one));
    const size_t examples = footer.find("\nExamples:\n");
    if (examples == footer.npos)
      continue;
    const std::string part = page.substr(page.find("\n.SH EXAMPLES"));
    std::istringstream lines(footer.substr(examples + 11));
    for (std::string line; std::getline(lines, line) && line.starts_with("  ");)
      EXPECT_NE(part.find("\n" + line.substr(2, line.find("  ", 2) - 2) + "\n"), part.npos) << line;
  }
}

TEST_F(ManPage, IsWrittenForEachCommand) {
  test::TempDir dir;
  write_man_pages(app, dir / "man");
  for (const CLI::App *one : commands())
    EXPECT_TRUE(
        std::filesystem::exists(dir / ("man/ovnitrace" + std::string(one == &app ? "" : "-") +
                                       (one == &app ? "" : one->get_name()) + ".1")))
        << one->get_name();
}

TEST_F(ManPage, IsRenderedWithoutWarnings) {
  if (output_of("command -v mandoc && command -v man && command -v lowdown").empty())
    GTEST_SKIP() << "no mandoc, man or lowdown";
  test::TempDir dir;
  write_man_pages(app, dir.path());
  std::string formats = test::project_file("Makefile");
  formats.erase(0, formats.find("\nFORMAT_PAGES := ") + 17);
  std::istringstream names(formats.substr(0, formats.find('\n')));
  const std::string root = test::project_path(".").string();
  for (std::string name; names >> name;)
    EXPECT_EQ(output_of("'" + root + "/scripts/doc_man.sh' '" + root + "/docs/" + name +
                        ".md' 1.0 2>&1 >" + (dir / (name + ".5"))),
              "");
  EXPECT_EQ(output_of("mandoc -Tlint -Wwarning " + dir.path() + "/* 2>&1"), "");
  EXPECT_EQ(output_of("for page in " + dir.path() +
                      "/*; do LC_ALL=C.UTF-8 man --warnings -l $page 2>&1 >/dev/null; done"),
            "");
}

} // namespace
} // namespace ovnitrace
