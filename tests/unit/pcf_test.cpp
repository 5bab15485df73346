// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/prv/pcf.h"

#include "emulator/prv/label.h"
#include "tests/unit/support/temp_dir.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <sstream>
#include <tuple>

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

TEST(Pcf, PaletteHasAColourOfItsOwnForEveryThreadStateAndErrorState) {
  auto sections = sections_of(pcf_text({}));
  std::map<int, std::string> colors;
  for (const std::string &line : sections[3].second) {
    int value, red, green, blue, end = 0;
    ASSERT_EQ(sscanf(line.c_str(), "%d {%d,%d,%d}%n", &value, &red, &green, &blue, &end), 4)
        << line;
    EXPECT_EQ(size_t(end), line.size());
    EXPECT_TRUE(colors.emplace(value, line.substr(line.find('{'))).second) << "twice: " << line;
  }
  std::set<std::string> distinct;
  for (int value : {0, 1, 2, 3, 4, 5, 666, 777})
    EXPECT_TRUE(colors.count(value) && distinct.insert(colors[value]).second) << value;
}

// "A line without a label is dropped. CRLF makes the whole PCF vanish" (paraver-format.md); a line
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

TEST(Pcf, DistinctColoursAreBrightAndDifferFromTheirNeighbours) {
  auto distance = [](PcfColor a, PcfColor b) {
    return abs(a.red - b.red) + abs(a.green - b.green) + abs(a.blue - b.blue);
  };
  std::set<std::tuple<int, int, int>> all;
  for (uint32_t n = 0; n < 300; n++) {
    PcfColor color = distinct_color(n);
    EXPECT_GE(std::max({color.red, color.green, color.blue}), 150) << n;
    EXPECT_TRUE(all.insert({color.red, color.green, color.blue}).second) << n;
    for (uint32_t next = n + 1; next <= n + 4; next++)
      EXPECT_GE(distance(color, distinct_color(next)), 100) << n << " " << next;
  }
  distinct_color(UINT32_MAX);
}

TEST(Pcf, IsWrittenAsItsText) {
  test::TempDir dir;
  Pcf pcf{{{4, "Thread state", {}}}};
  write_pcf(dir / "t.pcf", pcf);
  std::ifstream file(dir / "t.pcf");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), pcf_text(pcf));
}

} // namespace
} // namespace ovnitrace
