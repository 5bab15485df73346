// SPDX-License-Identifier: BSD-2-Clause
// What `ovnitrace stat` and `ovnitrace top` refuse before they record anything.
#include "tests/unit/support/run_command.h"
#include "tests/unit/support/temp_dir.h"

#include <gtest/gtest.h>

#include <fstream>

namespace ovnitrace {
namespace {

using Words = std::vector<std::string>;

/// Returns the first line of the refusal, which is one of usage.
std::string refusal(const Words &words, const Words &program = {}) {
  const test::Said said = test::run(words, program);
  EXPECT_EQ(said.out, "");
  EXPECT_EQ(said.status, 2);
  return said.err.substr(0, said.err.find('\n'));
}

TEST(StatCommand, RepeatsAProgramUpTo1000Times) {
  EXPECT_EQ(refusal({"stat", "-r", "1", "-a"}),
            "ovnitrace: -r repeats a program: name it after --");
  EXPECT_EQ(refusal({"stat", "-r", "1000", "-a"}),
            "ovnitrace: -r repeats a program: name it after --");
  for (const std::string wrong : {"0", "1001"})
    EXPECT_EQ(refusal({"stat", "-r", wrong, "-a"}),
              "ovnitrace: --repeat: Value " + wrong + " not in range 1 to 1000");
}

TEST(StatCommand, ComparesWithAnotherCommandIfItRepeats) {
  EXPECT_EQ(refusal({"stat", "--against", "b"}, {"a"}), "ovnitrace: --against requires --repeat");
  EXPECT_EQ(refusal({"stat", "-r", "2", "--against", ""}, {"a"}),
            "ovnitrace: --against: its value is empty");
  EXPECT_EQ(refusal({"stat", "-r", "2", "--match", "a=b"}, {"a"}),
            "ovnitrace: --match requires --against");
}

TEST(StatCommand, ThreadsOfTheTableHaveALimit) {
  for (const std::string wrong : {"0", "1000001"})
    EXPECT_EQ(refusal({"stat", "--top", wrong}, {"a"}),
              "ovnitrace: --top: give a whole number from 1 to 1000000, not " + wrong);
  EXPECT_EQ(refusal({"stat", "--top", "1000000", "-r", "1", "-a"}),
            "ovnitrace: -r repeats a program: name it after --");
}

// Otherwise the result of the run would be lost.
TEST(StatCommand, RefusesAnOutputThatExistsBeforeTheProgramRuns) {
  const test::TempDir dir;
  std::ofstream(dir / "out") << "mine";
  for (const Words &repeat : {Words{}, Words{"-r", "2"}}) {
    Words words = {"stat", "-o", dir / "out"};
    words.insert(words.end(), repeat.begin(), repeat.end());
    const test::Said said = test::run(words, {"/bin/sh", "-c", "echo ran"});
    EXPECT_NE(said.err.find((dir / "out") + " exists already"), std::string::npos) << said.err;
    EXPECT_EQ(said.err.find("ran\n"), std::string::npos);
    EXPECT_NE(said.status, 0);
  }
}

TEST(TopCommand, AnIntervalIsFrom100MillisecondsToAMinute) {
  for (const std::string wrong : {"99ms", "60001ms", "soon"})
    EXPECT_EQ(refusal({"top", "--batch", "1", "--interval", wrong}),
              "ovnitrace: --interval: '" + wrong + "' is no time from 100ms to 1m");
  for (const std::string right : {"100ms", "1m"})
    EXPECT_EQ(refusal({"top", "-i", right, "--batch", "1", "--metrics", "1"}),
              "ovnitrace: give either --batch or --metrics");
}

TEST(TopCommand, DrawsOnATerminalOnly) {
  EXPECT_EQ(refusal({"top"}),
            "ovnitrace: top draws on a terminal, and standard input or output is not a terminal: "
            "use --batch N, which prints N intervals, or --metrics PORT");
  EXPECT_EQ(refusal({"top", "--json"}), "ovnitrace: --json needs --batch N");
  EXPECT_EQ(refusal({"top", "--batch", "1", "--stacks=kernel"}),
            "ovnitrace: not expected: --stacks=kernel"); // top shows no stacks
}

TEST(TopCommand, MetricsHaveAnAddressAndAPort) {
  for (const std::string wrong : {"x", "65536", "127.0.0.1:x", "::1"})
    EXPECT_EQ(refusal({"top", "--metrics", wrong}),
              "ovnitrace: --metrics: '" + wrong +
                  "' is no PORT or ADDRESS:PORT; an IPv6 address goes into brackets, and a port is "
                  "at most 65535");
}

TEST(RecordCommand, OptionsGoAfterTheNameOfACommand) {
  EXPECT_EQ(refusal({"--quiet", "why", "run1"}),
            "ovnitrace: --quiet comes before `why`: options go after it, as in `ovnitrace why "
            "--quiet …`");
  EXPECT_EQ(refusal({"why", "run1"}, {"app"}),
            "ovnitrace: `why` runs no program, and here is one after --: app");
}

} // namespace
} // namespace ovnitrace
