// SPDX-License-Identifier: BSD-2-Clause
// The command lines of a capture: user/record/command_lines.
#include "user/record/command_lines.h"

#include <ovnitrace/capture.h>

#include <gtest/gtest.h>

#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

namespace ovnitrace {
namespace {

/// A message with a text. `bytes`: how long the text is said to be.
std::string message(const std::string &text, uint32_t bytes) {
  cmdline_record record = {};
  record.time = 500;
  record.pid = 7;
  record.bytes = bytes;
  std::string all(sizeof record, 0);
  std::memcpy(all.data(), &record, sizeof record);
  return all + text;
}

TEST(CommandLines, AMessageHasAsMuchTextAsItSaysAndNoMoreThanCame) {
  const std::string text("make\0-j4\0", 9);
  CommandLines lines;
  for (const uint32_t bytes : {9u, 4u, 10u, 100'000u, 0u}) {
    const std::string came = message(text, bytes);
    lines.take(came.data(), came.size());
  }
  const std::string empty = message("", 9);
  lines.take(empty.data(), empty.size() - 1);
  std::vector<std::string> texts;
  for (const CommandLine &line : lines.all()) {
    EXPECT_EQ(line.pid, 7u);
    EXPECT_EQ(line.since_ns, 500u);
    texts.push_back(line.text);
  }
  EXPECT_EQ(texts, (std::vector<std::string>{"make -j4", "make", "make -j4…", "make -j4…"}));
}

TEST(CommandLines, AreKeptUpToTheirLimitTogether) {
  CommandLines lines;
  const std::string large(CommandLines::kMostBytes - 10 - 2 * sizeof(CommandLine), 'x');
  lines.add(1, 0, large, false);
  lines.add(2, 0, "eleven char", false);
  EXPECT_EQ(lines.left_out(), 1u);
  lines.add(3, 0, "ten chars.", false);
  lines.add(4, 0, "x", false);
  lines.add(5, 0, "y", false);
  EXPECT_EQ(lines.left_out(), 3u);
  ASSERT_EQ(lines.all().size(), 2u);
  EXPECT_EQ(lines.all()[1].pid, 3u);
}

TEST(CommandLines, ManyShortOnesTakeNoMoreMemoryThanFewLongOnes) {
  CommandLines lines;
  constexpr size_t kMost = CommandLines::kMostBytes / sizeof(CommandLine);
  for (size_t n = 0; n <= kMost; n++)
    lines.add(1, 0, "a", false);
  EXPECT_LE(lines.all().size(), kMost);
  EXPECT_EQ(lines.left_out(), kMost + 1 - lines.all().size());
}

TEST(CommandLines, EmptyArgumentsAtTheEndAreDropped) {
  CommandLines lines;
  lines.add(1, 9, std::string_view("a\0\0b\0\0", 6), false);
  lines.add(2, 9, std::string_view("\0\0", 2), false);
  lines.add(3, 9, "", true);
  ASSERT_EQ(lines.all().size(), 1u);
  EXPECT_EQ(lines.all()[0].text, "a  b");
}

TEST(CommandLines, LivingProcessesIncludeThisOne) {
  struct stat own;
  if (stat("/proc/self/ns/pid", &own) != 0 || own.st_ino != 0xEFFFFFFC)
    GTEST_SKIP() << "in a PID namespace, pids are other numbers";
  CommandLines lines;
  add_living(lines);
  size_t found = 0;
  for (const CommandLine &line : lines.all())
    if (line.pid == uint32_t(getpid())) {
      found++;
      EXPECT_NE(line.text.find("unit_tests"), std::string::npos);
      EXPECT_EQ(line.since_ns, 0u);
    }
  EXPECT_EQ(found, 1u);
}

TEST(CommandLines, ALongCommandIsCutAsACommandLineIs) {
  using Arguments = std::vector<std::string>;
  const auto shortened = [](Arguments arguments) {
    shorten(arguments);
    return arguments;
  };
  constexpr size_t kMost = CAPTURE_CMDLINE_LONG;
  EXPECT_EQ(shortened({}), Arguments());
  EXPECT_EQ(shortened({"app", "", "-x"}), (Arguments{"app", "", "-x"}));
  EXPECT_EQ(shortened({std::string(kMost, 'a')}), Arguments{std::string(kMost, 'a')});
  EXPECT_EQ(shortened({std::string(kMost, 'a'), "", "b"}),
            (Arguments{std::string(kMost, 'a'), "…"}));
  EXPECT_EQ(shortened({"app", std::string(100'000, 'a'), "b"}),
            (Arguments{"app", std::string(kMost - 4, 'a') + "…"}));
  EXPECT_EQ(shortened({std::string(kMost - 1, 'a') + "é"}),
            Arguments{std::string(kMost - 1, 'a') + "…"});
  EXPECT_EQ(shortened(Arguments(100'000)).size(), kMost + 1);
}

} // namespace
} // namespace ovnitrace
