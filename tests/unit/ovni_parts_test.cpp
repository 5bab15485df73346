// SPDX-License-Identifier: BSD-2-Clause
// Parts of the import of ovni traces: the table of clocks, the CPUs and marks of several streams.
#include "emulator/ovni/clock_offsets.h"
#include "emulator/ovni/merged_meta.h"
#include "emulator/ovni/model_names.h"

#include <gtest/gtest.h>

namespace ovnitrace::ovni {
namespace {

using Texts = std::vector<std::string>;

TEST(OvniClockOffsets, AreTheMediansByHost) {
  Texts problems;
  const ClockOffsets offsets = parse_clock_offsets("rank host median mean stdev\n"
                                                   "0 one 0 0.5 0\n"
                                                   "\n \t\r\n"
                                                   "1 two -1500.9 nan nan\r\n"
                                                   "2 three 9.1e18 0 0",
                                                   problems);
  EXPECT_EQ(problems, Texts{});
  EXPECT_EQ(offsets, (ClockOffsets{{"one", 0}, {"two", -1500}, {"three", 9100000000000000000}}));
  EXPECT_EQ(clock_offset(offsets, "two.7"), -1500);
  EXPECT_EQ(clock_offset(offsets, "two.7.8"), -1500);
  EXPECT_EQ(clock_offset(offsets, "two"), -1500);
  EXPECT_EQ(clock_offset(offsets, "tw"), 0);
}

TEST(OvniClockOffsets, WrongLinesAreNamed) {
  Texts problems;
  const ClockOffsets offsets = parse_clock_offsets("header\n"
                                                   "0 one 5 0 0\n"
                                                   "1 two 5 0\n"
                                                   "\n"
                                                   "2 three 5 x 0\n"
                                                   "3 four 5 0 0x\n"
                                                   "4 five 9.3e18 0 0\n"
                                                   "5 six -9.3e18 0 0\n"
                                                   "6 one 6 0 0\n"
                                                   "7 seven 7 0 0\n",
                                                   problems);
  EXPECT_EQ(
      problems,
      (Texts{"line 3 is not `index host median mean stdev`",
             "line 5 is not `index host median mean stdev`",
             "line 6 is not `index host median mean stdev`", "line 7 has an offset out of range",
             "line 8 has an offset out of range", "line 9 has a second offset of one"}));
  EXPECT_EQ(offsets, (ClockOffsets{{"one", 5}, {"seven", 7}}));
}

TEST(OvniClockOffsets, OfAFileWithoutAnyAreAProblem) {
  Texts problems;
  EXPECT_TRUE(parse_clock_offsets("rank host median mean stdev\n", problems).empty());
  EXPECT_EQ(problems, Texts{"it has no offset"});
  problems.clear();
  parse_clock_offsets("header\nwrong\n", problems);
  EXPECT_EQ(problems, Texts{"line 2 is not `index host median mean stdev`"});
}

TEST(OvniLoomCpus, HaveOneIndexForEachPhyid) {
  LoomCpus cpus;
  EXPECT_TRUE(cpus.declare(0, 10));
  EXPECT_TRUE(cpus.declare(1, 11));
  EXPECT_TRUE(cpus.declare(1, 11)) << "the same once more";
  EXPECT_FALSE(cpus.declare(1, 10));
  EXPECT_FALSE(cpus.declare(1, 12)) << "an index with another phyid";
  EXPECT_FALSE(cpus.declare(2, 11)) << "a phyid with another index";
  EXPECT_FALSE(cpus.has_index(2));
  EXPECT_TRUE(cpus.has_index(1));
  EXPECT_EQ(cpus.index_of(), (std::map<uint32_t, uint32_t>{{10, 0}, {11, 1}}));
}

MarkType mark(int64_t type, const std::string &title, decltype(MarkType::labels) labels,
              bool stack = false) {
  MarkType made;
  made.type = decltype(made.type)(type);
  made.title = title;
  made.labels = std::move(labels);
  made.stack = stack;
  return made;
}

TEST(OvniMarks, OfSeveralStreamsAreMerged) {
  std::vector<MarkType> marks;
  EXPECT_TRUE(merge_mark(marks, mark(3, "other", {})));
  EXPECT_TRUE(merge_mark(marks, mark(7, "phase", {{5, "five"}, {2, "two"}})));
  EXPECT_TRUE(merge_mark(marks, mark(7, "phase", {{4, "four"}, {2, "two"}})));
  ASSERT_EQ(marks.size(), 2u);
  EXPECT_EQ(marks[0].labels, decltype(MarkType::labels)());
  EXPECT_EQ(marks[1].labels, (decltype(MarkType::labels){{2, "two"}, {4, "four"}, {5, "five"}}));
  EXPECT_FALSE(merge_mark(marks, mark(7, "phase", {{4, "FOUR"}})));
  EXPECT_EQ(marks[1].labels[1].second, "four") << "the first one is kept";
  EXPECT_FALSE(merge_mark(marks, mark(7, "another title", {})));
  EXPECT_FALSE(merge_mark(marks, mark(7, "phase", {}, true)));
  EXPECT_TRUE(merge_mark(marks, mark(7, "phase", {})));
}

TEST(OvniModels, HaveALetterANameAndAVersion) {
  const std::pair<char, std::string_view> names[] = {
      {'6', "nanos6"}, {'D', "nodes"}, {'K', "kernel"}, {'M', "mpi"},
      {'P', "openmp"}, {'T', "tampi"}, {'V', "nosv"},   {'x', ""}};
  for (const auto &[letter, name] : names)
    EXPECT_EQ(model_name(letter), name);
  EXPECT_EQ(find_model("mpii"), nullptr);
  ASSERT_NE(find_model("nosv"), nullptr);
  EXPECT_EQ(find_model("nosv")->letter, 'V');
  EXPECT_EQ(find_model("nosv")->version, std::string_view("2.7.0"));
  EXPECT_EQ(events_of_model('V', 1), "1 event of model V (nosv) is");
  EXPECT_EQ(events_of_model('V', 2), "2 events of model V (nosv) are");
  EXPECT_EQ(events_of_model('x', 0), "0 events of model x are");
}

} // namespace
} // namespace ovnitrace::ovni
