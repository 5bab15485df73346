// SPDX-License-Identifier: BSD-2-Clause
// The states of a thread, which the page and the documents must have as the table has them.
#include "emulator/format/state_table.h"
#include "tests/unit/support/project_file.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <set>

namespace ovnitrace {
namespace {

TEST(StateTable, NamesThePageConstantsByNumber) {
  const std::string script = test::project_file("emulator/report/page/trace.js");
  const auto constant = [&](std::string name) {
    std::transform(name.begin(), name.end(), name.begin(), ::toupper);
    std::smatch found;
    EXPECT_TRUE(std::regex_search(script, found, std::regex("\\b" + name + " = (\\d+)"))) << name;
    return found.empty() ? -1 : std::stoi(found[1]);
  };
  for (const StateInfo &state : kStateTable)
    EXPECT_EQ(constant(std::string(state.name)), int(state.state));
  EXPECT_EQ(constant("states"), int(kShownStates));
}

TEST(StateTable, EveryStateIsInTheOrderOfLegendsOnce) {
  EXPECT_EQ(std::set(kStateOrder.begin(), kStateOrder.end()).size(), kShownStates);
}

TEST(StateTable, NoTwoStatesShareANameALabelOrAGlyph) {
  std::set<std::string_view> names, labels;
  std::set<char> glyphs;
  for (const StateInfo &state : kStateTable) {
    EXPECT_TRUE(names.insert(state.name).second) << state.name;
    EXPECT_TRUE(labels.insert(state.label).second) << state.label;
    EXPECT_TRUE(glyphs.insert(state.glyph).second) << state.name;
  }
}

TEST(StateTable, TheReadmeExplainsEveryStateOfOvni) {
  const std::string readme = test::project_file("README.md");
  for (size_t state = 0; state < OVNI_THREAD_STATES; state++)
    EXPECT_NE(readme.find(fmt::format("| **{}** |", kStateTable[state].label)), readme.npos)
        << kStateTable[state].label;
}

} // namespace
} // namespace ovnitrace
