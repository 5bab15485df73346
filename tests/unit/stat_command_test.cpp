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

} // namespace
} // namespace ovnitrace
