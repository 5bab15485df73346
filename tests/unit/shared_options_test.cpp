// SPDX-License-Identifier: BSD-2-Clause
// Options that several subcommands have: one spelling, and one answer to an output that exists.
#include "emulator/cli/shared_options.h"
#include "tests/unit/support/all_commands.h"
#include "tests/unit/support/error_from.h"
#include "tests/unit/support/project_file.h"
#include "tests/unit/support/temp_dir.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>

namespace ovnitrace {
namespace {

class SharedOptions : public test::AllCommands {};

/// Returns "-o" and "--output" of "-o,--output"; of several long names only the first.
std::set<std::string> words_of(const std::string &names) {
  std::set<std::string> words;
  bool has_long = false;
  std::istringstream in(names);
  for (std::string name; std::getline(in, name, ',');)
    if (!name.starts_with("--") || !std::exchange(has_long, true))
      words.insert(name);
  return words;
}

std::set<std::string> words_of(const CLI::Option &option) {
  std::set<std::string> words;
  for (const std::string &name : option.get_snames())
    words.insert("-" + name);
  if (!option.get_lnames().empty())
    words.insert("--" + option.get_lnames().front());
  return words;
}

TEST_F(SharedOptions, AreSpeltAsTheTableSaysInEverySubcommand) {
  for (CLI::App *one : commands())
    for (const CLI::Option *option : one->get_options())
      for (const char *names : kSharedOptions)
        for (const std::string &word : words_of(std::string(names)))
          if (words_of(*option).contains(word)) {
            EXPECT_EQ(words_of(*option), words_of(std::string(names))) << one->get_name();
          }
}

TEST(IsAmong, AWordIsOneOfTheListOrNot) {
  const auto is_fruit = is_among({"apple", "pear"});
  EXPECT_TRUE(is_fruit("apple"));
  EXPECT_TRUE(is_fruit("pear"));
  EXPECT_FALSE(is_fruit("pea"));
  EXPECT_FALSE(is_fruit(""));
  EXPECT_FALSE(is_among({})("apple"));
}

TEST_F(SharedOptions, HaveOneShortNameEverywhere) {
  std::map<std::string, std::set<std::string>> known;
  for (CLI::App *one : commands())
    for (const CLI::Option *option : one->get_options())
      if (!option->get_lnames().empty()) {
        const auto words = words_of(*option);
        const auto [at, first] = known.emplace("--" + option->get_lnames().front(), words);
        EXPECT_EQ(at->second, words) << one->get_name();
      }
}

TEST_F(SharedOptions, OfAPartComeTogether) {
  for (CLI::App *one : commands())
    if (one->get_option_no_throw("--from")) {
      for (const char *name : {"--to", "--pid", "--tid", "--comm"})
        EXPECT_NE(one->get_option_no_throw(name), nullptr) << one->get_name() << " " << name;
    }
}

TEST_F(SharedOptions, ThatWriteAnOutputCanReplaceIt) {
  for (CLI::App *one : commands())
    if (one->get_option_no_throw("-o") && one->get_name() != "collect") { // it adds to a directory
      EXPECT_NE(one->get_option_no_throw("-f"), nullptr) << one->get_name();
    }
}

TEST_F(SharedOptions, AreInTheDocs) {
  std::set<std::string> expected;
  for (const char *names : kSharedOptions)
    for (const std::string &word : words_of(std::string(names)))
      expected.insert(word);
  EXPECT_EQ(test::first_cells("docs/usage.md", "| option | in every subcommand that has it |"),
            expected);
}

std::string refusal(const std::string &path, bool force = false, const std::string &place = "") {
  return test::error_from([&] { require_free(path, force, place); });
}

TEST(RequireFree, RefusesFilesLinksAndDirectoriesThatHoldAnything) {
  test::TempDir dir;
  const std::string file = dir / "file", full = dir / "full", empty = dir / "empty";
  std::ofstream(file) << "x";
  std::filesystem::create_directory(full);
  std::ofstream(full + "/x") << "x";
  std::filesystem::create_directory(empty);
  std::filesystem::create_symlink(file, dir / "link");
  std::filesystem::create_symlink("nowhere", dir / "dangling");
  for (const std::string &path : {file, full, dir / "link", dir / "dangling"}) {
    const char *forced = path == full ? "replace an earlier output in it" : "let it be overwritten";
    EXPECT_EQ(refusal(path),
              path + " exists already; choose another with -o, or " + forced + " with -f");
    EXPECT_EQ(refusal(path, true), "");
  }
  for (const std::string &path : {empty, dir / "none", std::string("-"), std::string("/dev/null"),
                                  std::string("/dev/stdout"), std::string()})
    EXPECT_EQ(refusal(path), "") << path;
}

TEST(RequireFree, TakesTheTraceItself) {
  test::TempDir dir;
  std::ofstream(dir / "trace.json") << "{}";
  EXPECT_NE(refusal(dir.path()), "");
  EXPECT_EQ(refusal(dir.path(), false, dir.path() + "/"), "");
}

} // namespace
} // namespace ovnitrace
