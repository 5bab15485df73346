// SPDX-License-Identifier: BSD-2-Clause
// Defaults of the configuration for options of recording: which have an effect.
#include "emulator/cli/config.h"
#include "tests/unit/support/record_arguments.h"
#include "user/cli/checked_options.h"

#include <ovnitrace/ftrace_codes.h>

#include <gtest/gtest.h>

#include <algorithm>

namespace ovnitrace {
namespace {

using test::app, test::error_of, test::kChain;

/// Returns the arguments of `record WORDS` with a configuration.
RecordArguments with(std::vector<std::string> words, const std::string &text,
                     RecordArguments arguments = app()) {
  CLI::App command{"", "record"};
  add_record_options(command, arguments);
  std::reverse(words.begin(), words.end());
  command.parse(words);
  apply_config(command, parse_config("file", text));
  return arguments;
}

/// A default for all recordings must not refuse those that have no use for it.
TEST(ConfiguredOptions, DefaultsThatNeedAnotherOptionHaveNoEffectAlone) {
  const std::string defaults = "keep = 3\nregion = thread\nearly-out = true\nstack-depth = 4\n"
                               "debuginfod = true\non-save = ls\ntrigger = task_end\n"
                               "max-saves = 5\nkey = file\n";
  EXPECT_EQ(error_of(with({}, defaults)), "");
  EXPECT_EQ(with({}, defaults + "rotate = 10s").options.rotation.keep, 3u);
  EXPECT_EQ(with({"--rotate", "10s"}, defaults).options.rotation.keep, 3u);
  EXPECT_EQ(with({"--control", kChain}, defaults).region, "thread");
  EXPECT_EQ(with({"--skip", "5"}, defaults).region, "thread");
  EXPECT_EQ(with({"--stacks"}, defaults).stack_depth, 4u);
  const RecordArguments last = with({"--buffer", "last:1M"}, defaults);
  EXPECT_EQ(last.options.on_save, "ls");
  EXPECT_EQ(last.options.trigger_saves, 5u);
  EXPECT_EQ(with({"--send", "tcp://host"}, defaults).options.key_file, "file");
}

TEST(ConfiguredOptions, DefaultsThatContradictTheCommandLineHaveNoEffect) {
  const std::string defaults = "buffer = last:16M\nstacks = user\nsend = tcp://host\n"
                               "rotate = 64M\nuser = nobody\nprobe = file\nforce = true\n";
  const std::vector<std::string> lines[] = {
      {},
      {"--rotate", "10s"},
      {"--buffer", "last:1M"},
      {"--stacks"},
      {"--send", "tcp://other"},
      {"-o", "dir"},
      {"--filter", "irq"},
      {"--control", kChain},
  };
  for (const std::vector<std::string> &words : lines) {
    const RecordArguments given = with(words, defaults);
    EXPECT_EQ(error_of(given), "") << testing::PrintToString(words);
    const auto has = [&](const char *option) {
      return std::find(words.begin(), words.end(), option) != words.end();
    };
    EXPECT_EQ(given.rotate == "10s", has("--rotate"));
    EXPECT_EQ(given.buffer == "last:1M", has("--buffer"));
    EXPECT_TRUE(!has("--stacks") || !given.stacks.empty());
    EXPECT_EQ(given.options.send == "tcp://other", has("--send"));
    EXPECT_EQ(given.options.directory == "dir", has("-o"));
  }
  RecordArguments attached = app();
  attached.options.command.clear();
  EXPECT_EQ(error_of(with({"-p", "1"}, "user = nobody\nearly-out = true\n", attached)), "");
  EXPECT_EQ(error_of(with({}, "no-children = true\n")), "");
  EXPECT_EQ(error_of(with({"--stacks"}, "filter = irq\n")), "");
  EXPECT_EQ(error_of(with({"--rotate", "9s"}, "trigger = task_end\non-save = ls\n")), "");
  EXPECT_EQ(with({"--rotate", "9s"}, "on-save = ls\ntrigger = exit:a\n").options.on_save, "ls");
  EXPECT_FALSE(with({}, "filter = irq\n").options.families.has(FTRACE_FAMILY_TASK));
}

TEST(ConfiguredOptions, TheLastOfTwoDefaultsThatContradictEachOtherCounts) {
  const RecordArguments buffer = with({}, "rotate = 64M\nbuffer = last:16M\n"),
                        rotate = with({}, "buffer = last:16M\nrotate = 64M\n");
  EXPECT_EQ(buffer.buffer, "last:16M");
  EXPECT_EQ(buffer.rotate, "");
  EXPECT_NE(rotate.buffer, "last:16M");
  EXPECT_EQ(rotate.rotate, "64M");
}

TEST(ConfiguredOptions, AWrongOptionIsNotBlamedOnADefault) {
  EXPECT_EQ(error_of(with({"--buffer", "bogus"}, "rotate = 1s")).find("--buffer bogus: "), 0u);
}

TEST(ConfiguredOptions, TrueGivesAnOptionTheValueThatItHasWithoutOne) {
  EXPECT_EQ(with({}, "stacks = true\n").stacks, "blocks");
  EXPECT_EQ(with({}, "compress = true\n").compress, "1");
  EXPECT_TRUE(with({}, "early-out = true\ncontrol = start:enter_func:f\n").options.early_out);
}

} // namespace
} // namespace ovnitrace
