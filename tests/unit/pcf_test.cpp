// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/prv/pcf.h"

#include "emulator/prv/label.h"

#include <cstring>
#include <gtest/gtest.h>
#include <set>
#include <sstream>

namespace ovnitrace {
namespace {

TEST(Label, KeepsOrdinaryNames) {
  EXPECT_EQ(one_line_label("kworker/0:1-events", "x"), "kworker/0:1-events");
  EXPECT_EQ(one_line_label("añ€😀", "x"), "añ€😀");
  EXPECT_EQ(one_line_label("two  words", "x"), "two  words");
}

TEST(Label, IsNeverEmptyAndNeverMoreThanALine) {
  EXPECT_EQ(one_line_label("", "tid 7"), "tid 7");
  EXPECT_EQ(one_line_label(" \t ", "tid 7"), "tid 7");
  EXPECT_EQ(one_line_label("\t a\tb  ", "x"), "a b");
  EXPECT_EQ(one_line_label("a\r\nLEVEL CPU SIZE 9\x1b[2J\x7f", "x"), "a??LEVEL CPU SIZE 9?[2J?");
  EXPECT_EQ(one_line_label(std::string_view("a\0b", 3), "x"), "a?b");
  EXPECT_EQ(one_line_label("a\xc2\x85"
                           "b",
                           "x"),
            "a??b"); // C1: next line
}

TEST(Label, ReplacesWhatIsNotUtf8) {
  for (const char *bad : {"\xff", "\x80", "\xc0\xaf", "\xc1\x81", "\xe0\x80\x80", "\xed\xa0\x80",
                          "\xf0\x80\x80\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80"})
    EXPECT_EQ(one_line_label(std::string("<") + bad + ">", "x"),
              "<" + std::string(strlen(bad), '?') + ">");
  EXPECT_EQ(one_line_label("half \xe2\x82", "x"), "half ??"); // a comm is cut at 15 bytes
  EXPECT_EQ(one_line_label("\xc2", "x"), "?");
  EXPECT_EQ(one_line_label("\xf0\x9f\x98", "x"), "???");
  EXPECT_EQ(one_line_label("\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf", "x"),
            "\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf"); // beside the borders
}

/// The sections of a .pcf, by Paraver's rules: a line that is a section's name begins it.
std::vector<std::pair<std::string, std::vector<std::string>>> sections_of(const std::string &text) {
  const std::set<std::string> names = {"DEFAULT_OPTIONS", "DEFAULT_SEMANTIC", "STATES",
                                       "STATES_COLOR", "EVENT_TYPE"};
  std::vector<std::pair<std::string, std::vector<std::string>>> sections;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    if (names.count(line))
      sections.push_back({line, {}});
    else if (!line.empty())
      sections.back().second.push_back(line);
  return sections;
}

TEST(Pcf, HasEverySectionInOrder) {
  Pcf pcf{{{4, "Thread state", {{0, "Unknown", {}}, {1, "Running", {}}}}, {6, "CPU", {}}}};
  auto sections = sections_of(pcf_text(pcf));
  ASSERT_EQ(sections.size(), 6u);
  EXPECT_EQ(sections[0].first, "DEFAULT_OPTIONS");
  EXPECT_EQ(sections[1].first, "DEFAULT_SEMANTIC");
  EXPECT_EQ(sections[2].first, "STATES");
  EXPECT_EQ(sections[3].first, "STATES_COLOR");
  EXPECT_EQ(sections[4].second, (std::vector<std::string>{"0    4    Thread state", "VALUES",
                                                          "0    Unknown", "1    Running"}));
  EXPECT_EQ(sections[5].second, (std::vector<std::string>{"0    6    CPU"}));
}

// As ovniemu writes them.
TEST(Pcf, OptionsAreThese) {
  const auto sections = sections_of(pcf_text({}));
  EXPECT_EQ(sections[0].second,
            (std::vector<std::string>{"LEVEL               THREAD", "UNITS               NANOSEC",
                                      "LOOK_BACK           100", "SPEED               1",
                                      "FLAG_ICONS          ENABLED", "NUM_OF_STATE_COLORS 1000",
                                      "YMAX_SCALE          37"}));
  EXPECT_EQ(sections[1].second, std::vector<std::string>{"THREAD_FUNC         State As Is"});
}

TEST(Pcf, ColoursAreInTheOrderStatesSeriesErrors) {
  const std::vector<std::string> lines = sections_of(pcf_text({}))[3].second;
  ASSERT_EQ(lines.size(), 26u);
  const std::vector<std::string> states(lines.begin(), lines.begin() + 8);
  EXPECT_EQ(states, (std::vector<std::string>{"0    {0,0,0}",       // Unknown
                                              "1    {0,175,125}",   // Running
                                              "2    {66,74,96}",    // Paused
                                              "3    {30,30,34}",    // Dead
                                              "4    {205,75,0}",    // Cooling
                                              "5    {170,200,255}", // Warming
                                              "6    {86,180,233}", "7    {216,36,0}"}));
  EXPECT_EQ(lines[17], "17    {180,216,255}");
  EXPECT_EQ(lines[18], "18    {86,180,233}");
  EXPECT_EQ(lines[23], "23    {255,144,0}");
  EXPECT_EQ(lines[24], "666    {255,255,255}");
  EXPECT_EQ(lines[25], "777    {255,0,255}");
}

// Paraver drops a line without a label, and a PCF with CRLF as a whole (docs/format.md); a line
// of blanks makes its parser fail.
TEST(Pcf, HostileLabelsStayOneLabelOfOneLine) {
  Pcf pcf{
      {{1, "\r\nEVENT_TYPE\r\n", {{-3, "", {}}, {7, " \n", {}}, {8, "VALUES", {}}}}, {2, "", {}}}};
  std::string text = pcf_text(pcf);
  EXPECT_EQ(text.find('\r'), std::string::npos);
  auto sections = sections_of(text);
  ASSERT_EQ(sections.size(), 6u);
  EXPECT_EQ(sections[4].second, (std::vector<std::string>{"0    1    ??EVENT_TYPE??", "VALUES",
                                                          "-3    -3", "7    ?", "8    VALUES"}));
  EXPECT_EQ(sections[5].second, (std::vector<std::string>{"0    2    Type 2"}));
}

} // namespace
} // namespace ovnitrace
