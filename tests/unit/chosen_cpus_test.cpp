// SPDX-License-Identifier: BSD-2-Clause
// Lists and ranges of numbers, and which CPUs a trace records by its filters.
#include "emulator/base/comma_list.h"
#include "emulator/input/chosen_cpus.h"

#include <gtest/gtest.h>

namespace ovnitrace {
namespace {

TEST(CommaList, HasEmptyWordsToo) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(comma_list(""), Words{""});
  EXPECT_EQ(comma_list("a"), Words{"a"});
  EXPECT_EQ(comma_list("a,,bc"), (Words{"a", "", "bc"}));
  EXPECT_EQ(comma_list(",a,"), (Words{"", "a", ""}));
}

TEST(CommaList, RangesHaveTwoEnds) {
  using Ends = std::pair<std::string, std::string>;
  EXPECT_EQ(range_ends("0-3"), Ends("0", "3"));
  EXPECT_EQ(range_ends("18"), Ends("18", "18"));
  EXPECT_EQ(range_ends("-1-5"), Ends("-1", "5")) << "a sign is no range";
  EXPECT_EQ(range_ends("4-"), Ends("4", ""));
}

/// The CPUs from 0 to 9 that a trace with these filters records.
std::string recorded(const std::vector<std::string> &filters) {
  TraceInfo info;
  info.filters = filters;
  std::string cpus;
  for (uint32_t cpu = 0; cpu < 10; cpu++)
    if (records_cpu(info, cpu))
      cpus += std::to_string(cpu);
  return cpus;
}

bool chooses(const std::vector<std::string> &filters) {
  TraceInfo info;
  info.filters = filters;
  return chose_cpus(info);
}

TEST(ChosenCpus, AreThoseOfTheFilters) {
  EXPECT_EQ(recorded({}), "0123456789");
  EXPECT_EQ(recorded({"--comm x", "--uid 3"}), "0123456789");
  EXPECT_EQ(recorded({"--cpu 2-4,7"}), "2347");
  EXPECT_EQ(recorded({"--cpu 7", "--comm x", "--cpu 2-3"}), "237");
  EXPECT_EQ(recorded({"--no-cpu 2-4,7"}), "015689");
  EXPECT_EQ(recorded({"--cpu 2-6", "--no-cpu 3", "--no-cpu 5,9"}), "246");
  EXPECT_EQ(recorded({"--no-cpu 3", "--cpu 2-3"}), "2");
  EXPECT_EQ(recorded({"--cpu x,4-,8"}), "8") << "a word that is no number";
}

TEST(ChosenCpus, AreAskedForByTwoFilters) {
  EXPECT_FALSE(chooses({}));
  EXPECT_FALSE(chooses({"--comm --cpu 3", "--cpus 1"}));
  EXPECT_TRUE(chooses({"--uid 1", "--cpu 3"}));
  EXPECT_TRUE(chooses({"--no-cpu 3"}));
}

} // namespace
} // namespace ovnitrace
