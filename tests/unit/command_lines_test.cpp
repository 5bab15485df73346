// SPDX-License-Identifier: BSD-2-Clause
// The command lines of a capture: user/record/command_lines.
#include "user/record/command_lines.h"

#include "emulator/base/spawn.h"

#include <ovnitrace/capture.h>

#include <gtest/gtest.h>

#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
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

TEST(CommandLines, TheLastProgramOfAProcessIsItsLastLinesFirstWord) {
  CommandLines lines;
  lines.add(7, 100, std::string_view("env\0app\0", 8), false);
  lines.add(8, 150, std::string_view("other\0", 6), false);
  EXPECT_EQ(lines.last_program(7), "env");
  lines.add(7, 200, std::string_view("/bin/app\0-x\0-y\0", 15), false);
  EXPECT_EQ(lines.last_program(7), "/bin/app");
  EXPECT_EQ(lines.last_program(8), "other");
  EXPECT_EQ(lines.last_program(9), "");
}

/// The command line of a process that waits for its input, but for the last argument.
const std::string kLivingStart = "/bin/sh -c echo;read a  ";

/// The command line of such a process whose arguments take so many bytes.
std::string living_line(size_t bytes) {
  int input[2], output[2];
  if (pipe2(input, O_CLOEXEC) != 0 || pipe2(output, O_CLOEXEC) != 0)
    return "no pipe";
  const std::string last(bytes - kLivingStart.size() - 1, 'x');
  pid_t pid = -1;
  const int error = spawn({"/bin/sh", "-c", "echo;read a", "", last}, own_environment(),
                          {.in = input[0], .out = output[1]}, pid);
  close(input[0]);
  close(output[1]);
  char started;
  CommandLines lines;
  if (!error && read(output[0], &started, 1) == 1)
    add_living(lines);
  close(input[1]);
  close(output[0]);
  waitpid(pid, nullptr, 0);
  for (const CommandLine &line : lines.all())
    if (line.pid == uint32_t(pid))
      return line.text;
  return "none";
}

TEST(CommandLines, OfLivingProcessesAreCutAtTheSameLength) {
  struct stat own;
  if (stat("/proc/self/ns/pid", &own) != 0 || own.st_ino != 0xEFFFFFFC)
    GTEST_SKIP() << "in a PID namespace, pids are other numbers";
  const std::string &start = kLivingStart;
  const size_t room = CAPTURE_CMDLINE_LONG - start.size();
  EXPECT_EQ(living_line(CAPTURE_CMDLINE_LONG), start + std::string(room - 1, 'x'));
  EXPECT_EQ(living_line(CAPTURE_CMDLINE_LONG + 2), start + std::string(room, 'x') + "…");
  EXPECT_EQ(living_line(CAPTURE_CMDLINE_LONG + 700), start + std::string(room, 'x') + "…");
}

} // namespace
} // namespace ovnitrace
