// SPDX-License-Identifier: BSD-2-Clause
// Configuration files: what they may say, which value wins, and what is said of a broken one.
#include "emulator/base/error.h"
#include "emulator/cli/app.h"
#include "emulator/cli/config.h"
#include "tests/unit/support/error_from.h"
#include "tests/unit/support/temp_dir.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <unistd.h>
#include <vector>

namespace ovnitrace {
namespace {

class Config : public ::testing::Test {
protected:
  Config() {
    app.add_flag("-q,--quiet", quiet, "");
    why = app.add_subcommand("why", "");
    why->add_option("--top", top, "");
    why->add_option("--by", by, "")->check(CLI::IsMember({"thread", "name"}));
    const auto brief_option = why->add_flag("--brief", brief, "");
    why->add_flag("--long", longer, "")->excludes(brief_option);
  }
  /// Runs the command line with these files.
  void run(std::vector<std::string> words, const std::vector<std::string> &texts) {
    std::vector<Setting> settings;
    for (size_t n = 0; n < texts.size(); n++)
      for (Setting &one : parse_config("file" + std::to_string(n), texts[n]))
        settings.push_back(one);
    std::reverse(words.begin(), words.end());
    app.parse(words);
    check_config(app, settings);
    apply_config(app.get_subcommands().empty() ? app : *why, settings);
  }
  std::string refused(const std::string &text) {
    return test::usage_error_from([&] { run({"why"}, {text}); });
  }

  CLI::App app{"", "ovnitrace"};
  CLI::App *why = nullptr;
  bool quiet = false, brief = false, longer = false;
  int top = 0;
  std::string by;
};

TEST_F(Config, GivesDefaultsThatTheCommandLineOverrides) {
  run({"why", "--by", "thread"}, {"# comment\n\ntop = 7   # more\nby = name\nbrief = true\n"});
  EXPECT_EQ(top, 7);
  EXPECT_EQ(by, "thread");
  EXPECT_TRUE(brief);
}

TEST_F(Config, TakesASectionBeforeWhatIsForAllAndALaterFileBeforeBoth) {
  run({"why"}, {"[why]\ntop = 3\n", ""});
  EXPECT_EQ(top, 3);
  app.clear();
  run({"why"}, {"[why]\ntop = 3\n[ovnitrace]\nquiet = true", "top = 4"});
  EXPECT_EQ(top, 4);
  EXPECT_FALSE(quiet) << "it is for the command without a subcommand";
  app.clear();
  run({"why"}, {"top = 5\n[why]\ntop = 6"});
  EXPECT_EQ(top, 6);
}

TEST_F(Config, AppliesToTheCommandWithoutASubcommand) {
  run({}, {"[ovnitrace]\nquiet = true"});
  EXPECT_TRUE(quiet);
}

TEST_F(Config, LeavesFalseFlagsAndExcludedOptionsAlone) {
  run({"why", "--long"}, {"brief = true\nquiet = false"});
  EXPECT_TRUE(longer);
  EXPECT_FALSE(brief);
  EXPECT_FALSE(quiet);
}

TEST_F(Config, ADefaultNeedsItsPartnerWhereverThatStands) {
  Option(why->get_option("--top")).default_if([&] { return !by.empty(); });
  run({"why"}, {"top = 7"});
  EXPECT_EQ(top, 0);
  app.clear();
  run({"why"}, {"top = 7\nby = name"});
  EXPECT_EQ(top, 7);
  app.clear();
  by.clear();
  top = 0;
  run({"why", "--by", "name"}, {"top = 7"});
  EXPECT_EQ(top, 7);
}

TEST_F(Config, KeepsBlanksBetweenQuotes) {
  const std::vector<Setting> settings = parse_config("f", "\tby\t= \" a # b \"\r\n");
  ASSERT_EQ(settings.size(), 1u);
  EXPECT_EQ(settings[0].value, " a # b ");
  EXPECT_EQ(settings[0].line, 1u);
  EXPECT_EQ(settings[0].column, 7u);
}

TEST_F(Config, SaysInWhichLineAndColumnItIsWrong) {
  EXPECT_EQ(refused("top = 1\n  tpo = 3"), "file0:2:9: there is no option --tpo");
  EXPECT_EQ(refused("[why]\nquiet = true"), "file0:2:9: why has no option --quiet");
  EXPECT_EQ(refused("[wyh]"), "file0:1:1: there is no subcommand wyh");
  EXPECT_EQ(refused("[why"), "file0:1:1: the name of the section does not end with ]");
  EXPECT_EQ(refused("[ ]"), "file0:1:1: the section has no name: write [SUBCOMMAND]");
  EXPECT_EQ(refused("\n top"), "file0:2:2: 'top' has no value: write NAME = VALUE");
  EXPECT_EQ(refused("top ="), "file0:1:6: there is no value after the =");
  EXPECT_EQ(refused("= 3"), "file0:1:1: there is no name before the =");
  EXPECT_EQ(refused("by = \"name"), "file0:1:6: the quote does not end in this line");
  EXPECT_EQ(refused("top = 1\nby = \x01"),
            "file0:2:6: there is a control character: the file must be text");
  EXPECT_EQ(refused("brief = maybe"), "file0:1:9: brief: write true or false");
  EXPECT_EQ(refused("help = true"), "file0:1:8: there is no option --help");
  EXPECT_NE(refused("top = x").find("file0:1:7: "), std::string::npos);
  EXPECT_NE(refused("by = cpu").find("file0:1:6: "), std::string::npos);
}

TEST_F(Config, RootUnderSudoDoesNotReadTheFileOfTheUser) {
  setenv("XDG_CONFIG_HOME", "/somewhere", 1);
  unsetenv("SUDO_UID");
  EXPECT_EQ(config_files(),
            (std::vector<std::string>{"/etc/ovnitrace/config", "/somewhere/ovnitrace/config"}));
  setenv("SUDO_UID", "1000", 1);
  const std::vector<std::string> files = config_files();
  EXPECT_EQ(files.size(), geteuid() == 0 ? 1u : 2u);
  if (geteuid() == 0) { // a command that has given up root
    ASSERT_EQ(seteuid(65534), 0);
    const std::vector<std::string> of_user = config_files();
    ASSERT_EQ(seteuid(0), 0);
    ASSERT_EQ(of_user.size(), 2u);
    EXPECT_TRUE(of_user[1].ends_with("/.config/ovnitrace/config")) << of_user[1];
    EXPECT_FALSE(of_user[1].starts_with("/root")) << of_user[1];
  }
  unsetenv("SUDO_UID");
  unsetenv("XDG_CONFIG_HOME");
}

TEST_F(Config, TheFileOfAnotherUserIsNotRead) {
  test::TempDir dir;
  std::ofstream(dir / "config") << "tpo = 3";
  EXPECT_EQ(read_config({dir / "config"}).size(), 1u);
  if (geteuid() != 0)
    GTEST_SKIP() << "only root can give a file away";
  ASSERT_EQ(chown((dir / "config").c_str(), 65534, 65534), 0);
  EXPECT_EQ(read_config({dir / "config", dir / "none"}).size(), 0u);
}

TEST_F(Config, ADirectoryOrALargeFileIsRefused) {
  test::TempDir dir;
  EXPECT_THROW(read_config({dir.path()}), Error);
  std::ofstream(dir / "config") << std::string(65537, '#');
  EXPECT_THROW(read_config({dir / "config"}), Error);
}

TEST_F(Config, AValueEndsWithItsQuoteAndIsNotEmpty) {
  EXPECT_EQ(refused("by = \""), "file0:1:6: the quote does not end in this line");
  EXPECT_EQ(refused("by = \"\""), "file0:1:6: there is no value after the =");
  EXPECT_EQ(refused("by\t=\tname\x1f"),
            "file0:1:10: there is a control character: the file must be text");
}

TEST_F(Config, TheFileIsInTheHomeOfTheUserIfNoOtherPlaceIsNamed) {
  const char *before = getenv("HOME");
  const std::string home = before ? before : "";
  unsetenv("SUDO_UID");
  unsetenv("XDG_CONFIG_HOME");
  setenv("HOME", "/home/somebody", 1);
  const auto of_user = [] {
    const std::vector<std::string> files = config_files();
    return files.size() == 2 ? files[1] : "";
  };
  EXPECT_EQ(of_user(), "/home/somebody/.config/ovnitrace/config");
  setenv("XDG_CONFIG_HOME", "relative", 1);
  EXPECT_EQ(of_user(), "/home/somebody/.config/ovnitrace/config");
  setenv("HOME", "relative", 1);
  EXPECT_FALSE(of_user().starts_with("relative")) << "the user database says where it is";
  unsetenv("XDG_CONFIG_HOME");
  setenv("HOME", home.c_str(), 1);
}

TEST_F(Config, AFileThatIsNotReadIsNamed) {
  test::TempDir dir;
  const std::string file = dir / "config";
  std::ofstream(file) << std::string(65536, '#');
  EXPECT_EQ(read_config({file}).size(), 0u) << "64 KiB are a comment";
  std::ofstream(file, std::ios::app) << '#';
  EXPECT_EQ(test::failure_from([&] { read_config({file}); }),
            "cannot read the configuration " + file +
                ": is no regular file of at most 65536 bytes");
  if (geteuid() != 0)
    GTEST_SKIP() << "only root can give a file away";
  ASSERT_EQ(chown(file.c_str(), 65534, 65534), 0);
  testing::internal::CaptureStderr();
  read_config({file});
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "ovnitrace: warning: " + file + " belongs to another user: it is not read\n");
}

} // namespace
} // namespace ovnitrace
