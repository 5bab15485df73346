// SPDX-License-Identifier: BSD-2-Clause
// The manual pages, which are made of the tables behind --help.
#include "emulator/cli/man_page.h"
#include "tests/unit/support/all_commands.h"
#include "tests/unit/support/files.h"
#include "tests/unit/support/output_of.h"
#include "tests/unit/support/project_file.h"
#include "tests/unit/support/temp_dir.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <sstream>
#include <string>

namespace ovnitrace {
namespace {

using test::output_of;

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

/// A program with two commands and a hidden one, each with what a page can have.
class MadePage : public testing::Test {
protected:
  MadePage() {
    // The program's own formatter is not the project's: its page needs one all the same.
    first->formatter(
        std::make_shared<HelpFormatter>("tool first [OPTION]...\n  or   tool first -l"));
    first->add_option("-n,--number", number, "How many of `it`")->type_name("N");
    first->add_option("FILE", file, "It's read")->type_name("FILE");
    first->add_flag("--fast", fast, ".5 ~ of ^ a\\b")->group("Speed: how");
    first->add_option("--hidden", hidden, "Not shown")->group("");
    first->footer(R"(
One paragraph.
It has two lines.

Another one, and a list:
  one  its meaning
  two  a meaning that
       goes on
  three
       starts below

Examples:
  tool first
  tool first -n 2  also   this
After them.)");
    second->footer("Example:\n  tool second");
    app.add_subcommand("third", "Not shown.")->group("");
  }
  std::string number, file, hidden;
  bool fast = false;
  CLI::App app{"Does it.\nIn two lines.\n-By hand.", "tool"};
  CLI::App *first = app.add_subcommand("first", "Makes the first.");
  CLI::App *second = app.add_subcommand("second", "MAKES more. And more");
};

TEST_F(MadePage, OfACommandHasAllParts) {
  EXPECT_EQ(man_page(*first, app, "2026-01-02"),
            ".TH \"tool\\-first\" 1 \"2026-01-02\" \"ovnitrace " OVNITRACE_VERSION
            "\" \"User Commands\"\n"
            R"(.nh
.na
.SH NAME
tool\-first \- makes the first
.SH SYNOPSIS
tool first [OPTION]...
.br
or tool first \-l
.SH DESCRIPTION
One paragraph.
It has two lines.
.PP
Another one, and a list:
.TP
\fBone\fR
its meaning
.TP
\fBtwo\fR
a meaning that goes on
.TP
\fBthree\fR
starts below
.PP
After them.
.SH OPTIONS
.TP
\fBFILE\fR
It\(aqs read
.TP
\fB\-h, \-\-help\fR
Print this help message and exit
.TP
\fB\-n, \-\-number N\fR
How many of \fBit\fR
.SS Speed: how
.TP
\fB\-\-fast\fR
\&.5 \(ti of \(ha a\eb
.SH EXAMPLES
.TP
\fBtool first\fR
\&
.TP
\fBtool first \-n 2\fR
also, this
.SH SEE ALSO
\fBtool\fR(1),
\fBtool\-second\fR(1),
\fBovnitrace\-format\fR(5)
.PP
The pages docs/*.md are in share/doc/ovnitrace.
)");
}

TEST_F(MadePage, OfACommandWithoutOptionsHasNoPartsForThem) {
  second->set_help_flag();
  EXPECT_EQ(man_page(*second, app, "2026-01-02"),
            ".TH \"tool\\-second\" 1 \"2026-01-02\" \"ovnitrace " OVNITRACE_VERSION
            "\" \"User Commands\"\n"
            R"(.nh
.na
.SH NAME
tool\-second \- mAKES more. And more
.SH SYNOPSIS
tool second
.SH EXAMPLES
.TP
\fBtool second\fR
\&
.SH SEE ALSO
\fBtool\fR(1),
\fBtool\-first\fR(1),
\fBovnitrace\-format\fR(5)
.PP
The pages docs/*.md are in share/doc/ovnitrace.
)");
}

TEST_F(MadePage, OfTheProgramHasTheCommands) {
  EXPECT_EQ(man_page(app, app, "2026-01-02"),
            ".TH \"tool\" 1 \"2026-01-02\" \"ovnitrace " OVNITRACE_VERSION "\" \"User Commands\"\n"
            R"(.nh
.na
.SH NAME
tool \- Does it
.SH SYNOPSIS
tool [OPTIONS] [SUBCOMMAND]
.SH DESCRIPTION
In two lines.
\-By hand.
.SH COMMANDS
.TP
\fBtool\-first\fR(1)\fR
Makes the first.
.TP
\fBtool\-second\fR(1)\fR
MAKES more. And more
.SH OPTIONS
.TP
\fB\-h, \-\-help\fR
Print this help message and exit
.SH SEE ALSO
\fBovnitrace\-format\fR(5)
.PP
The pages docs/*.md are in share/doc/ovnitrace.
)");
}

TEST_F(MadePage, HasTheDayThatADistributionGives) {
  test::TempDir dir;
  setenv("SOURCE_DATE_EPOCH", "86400", 1);
  write_man_pages(app, dir / "man");
  unsetenv("SOURCE_DATE_EPOCH");
  EXPECT_TRUE(test::text_of(dir / "man/tool-first.1")
                  .starts_with(".TH \"tool\\-first\" 1 \"1970-01-02\" "));
  EXPECT_TRUE(test::text_of(dir / "man/tool.1").starts_with(".TH \"tool\" 1 \"1970-01-02\" "));
  EXPECT_TRUE(std::filesystem::exists(dir / "man/tool-second.1"));
  EXPECT_FALSE(std::filesystem::exists(dir / "man/tool-third.1"));
}

} // namespace
} // namespace ovnitrace
