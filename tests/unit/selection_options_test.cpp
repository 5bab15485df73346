// SPDX-License-Identifier: BSD-2-Clause
// The options that choose threads and CPUs: what they set, and their limits.
#include "emulator/base/error.h"
#include "tests/unit/support/error_from.h"
#include "user/cli/selection_options.h"

#include <CLI/App.hpp>
#include <gtest/gtest.h>

#include <algorithm>

namespace ovnitrace {
namespace {

using Words = std::vector<std::string>;
using Numbers = std::vector<uint32_t>;

Selection parsed(Words words) {
  Selection selection;
  CLI::App command{"", "record"};
  add_selection_options(command, selection);
  std::reverse(words.begin(), words.end());
  command.parse(words);
  return selection;
}

std::string refusal(const Words &words) {
  return test::error_from([&] { parsed(words); });
}

/// "1,1,…"
std::string repeated(const std::string &one, size_t count) {
  std::string list = one;
  for (size_t n = 1; n < count; n++)
    list += "," + one;
  return list;
}

TEST(SelectionOptions, AreListsThatAddUpAndAreKeptAsTheyWereAsked) {
  const Selection selection = parsed({"--tid", "5,6", "--tid", "4194303", "--comm", "a*,b",
                                      "--no-comm", "c?", "--uid", "0", "--no-kthreads"});
  EXPECT_EQ(selection.tids, (Numbers{5, 6, 4194303}));
  EXPECT_EQ(selection.comms, (Words{"a*", "b"}));
  EXPECT_EQ(selection.refused_comms, Words{"c?"});
  EXPECT_EQ(selection.uids, Numbers{0});
  EXPECT_TRUE(selection.no_kernel_threads);
  Words asked = selection.asked;
  std::sort(asked.begin(), asked.end());
  EXPECT_EQ(asked, (Words{"--comm a*,b", "--no-comm c?", "--no-kthreads", "--tid 4194303",
                          "--tid 5,6", "--uid 0"}));
  EXPECT_TRUE(selection.any());
  EXPECT_FALSE(parsed({}).any());
  EXPECT_FALSE(parsed({}).no_kernel_threads);
}

TEST(SelectionOptions, ThreadsHaveALimit) {
  EXPECT_EQ(parsed({"--tid", repeated("1", 64)}).tids.size(), 64u);
  EXPECT_EQ(refusal({"--tid", repeated("1", 65)}), "--tid: 65 values are more than 64, the limit");
  EXPECT_EQ(refusal({"--tid", "0"}), "--tid: give a whole number from 1 to 4194303, not 0");
  EXPECT_EQ(refusal({"--tid", "4194304"}),
            "--tid: give a whole number from 1 to 4194303, not 4194304");
  EXPECT_EQ(refusal({"--tid", "1,"}), "--tid: give a whole number from 1 to 4194303, not nothing");
}

TEST(SelectionOptions, NamesOfBothKindsHaveOneLimit) {
  EXPECT_EQ(parsed({"--comm", repeated("a", 20), "--no-comm", repeated("a", 12)}).comms.size(),
            20u);
  EXPECT_EQ(refusal({"--comm", repeated("a", 33)}),
            "--comm: 33 values are more than 32, the limit");
  EXPECT_EQ(refusal({"--comm", repeated("a", 20), "--no-comm", repeated("a", 13)}),
            "--no-comm: 33 values are more than 32, the limit");
  EXPECT_EQ(refusal({"--no-comm", ""}), "--no-comm needs a name, such as 'worker*'");
}

TEST(SelectionOptions, AUserIsANameOrANumber) {
  EXPECT_EQ(parsed({"--uid", "root,4294967294,7"}).uids, (Numbers{0, 4294967294, 7}));
  EXPECT_EQ(refusal({"--uid", "4294967295"}),
            "--uid: give a whole number from 0 to 4294967294, not 4294967295");
  EXPECT_EQ(refusal({"--uid", "no-such-user"}), "--uid no-such-user: there is no such user");
  EXPECT_EQ(refusal({"--uid", ""}), "--uid : there is no such user");
  EXPECT_EQ(refusal({"--uid", "1x"}), "--uid 1x: there is no such user");
  EXPECT_EQ(parsed({"--uid", repeated("1", 64)}).uids.size(), 64u);
  EXPECT_EQ(refusal({"--uid", repeated("1", 65)}), "--uid: 65 values are more than 64, the limit");
}

TEST(SelectionOptions, CpusAreThoseOfThisMachine) {
  EXPECT_EQ(parsed({"--cpu", "0", "--no-cpu", "0-0"}).cpus, Numbers{0});
  EXPECT_EQ(parsed({"--cpu", "0", "--no-cpu", "0-0"}).refused_cpus, Numbers{0});
  EXPECT_EQ(refusal({"--no-cpu", "4096"}),
            "--no-cpu: give a whole number from 0 to 4095, not 4096");
  EXPECT_NE(
      refusal({"--cpu", "4095"}).find("--cpu 4095: this machine has no CPU 4095; the last is"),
      std::string::npos);
}

TEST(SelectionOptions, AListOfCpusHasItsFirstErrorExplained) {
  const auto wrong = [](const char *list) {
    try {
      parse_cpus("--cpu", list, 8);
    } catch (const Error &error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(parse_cpus("--cpu", "7,3-3,1-2", 8), (Numbers{7, 3, 1, 2}));
  EXPECT_EQ(wrong("0-8"), "--cpu 0-8: this machine has no CPU 8; the last is 7");
  EXPECT_EQ(wrong("0,3-2"), "--cpu 3-2: write the smaller number first");
  EXPECT_EQ(wrong("1-x"), "--cpu: give a whole number from 0 to 4095, not x");
  EXPECT_EQ(wrong("1-"), "--cpu: give a whole number from 0 to 4095, not nothing");
}

TEST(SelectionOptions, CgroupsOfAllOptionsHaveOneLimit) {
  const Selection two = parsed({"--unit", "a", "-G", "/b"});
  ASSERT_EQ(two.cgroups.size(), 2u);
  EXPECT_EQ(std::count(two.asked.begin(), two.asked.end(), "--cgroup /b"), 1);
  Words many;
  for (int n = 0; n < 32; n++)
    many.insert(many.end(), {"--unit", "a"});
  EXPECT_EQ(parsed(many).cgroups.size(), 32u);
  many.insert(many.end(), {"--unit", "a"});
  EXPECT_EQ(refusal(many), "--unit: 33 values are more than 32, the limit");
}

} // namespace
} // namespace ovnitrace
