// SPDX-License-Identifier: BSD-2-Clause
// Text in the columns of a terminal: widths, what is cut off, tables.
#include "emulator/base/edit_distance.h"
#include "emulator/base/human.h"
#include "emulator/base/short_line.h"
#include "emulator/cli/terminal.h"
#include "emulator/summary/table.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace ovnitrace {
namespace {

TEST(Columns, AreThoseOfTheTerminal) {
  EXPECT_EQ(columns_of(""), 0u);
  EXPECT_EQ(columns_of("abc"), 3u);
  EXPECT_EQ(columns_of("größe"), 5u);
  EXPECT_EQ(columns_of("日本"), 4u);
  EXPECT_EQ(columns_of("e\u0301"), 1u) << "a combining accent";
}

TEST(ShortLine, EndsWithAnEllipsisWhereItIsCutOff) {
  EXPECT_EQ(short_line("worker", 6), "worker");
  EXPECT_EQ(short_line("worker", 5), "work…");
  EXPECT_EQ(short_line("日本語", 6), "日本語");
  EXPECT_EQ(short_line("日本語", 5), "日本…");
  EXPECT_EQ(short_line("日本語", 4), "日…") << "half a character has no place";
  EXPECT_EQ(short_line("ab", 1), "…");
  EXPECT_EQ(short_line("ab", 0), "");
}

TEST(Columns, OfAPipeAreEnoughForAllNamesAndTextIsBrokenAt100) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  EXPECT_EQ(terminal_columns(ends[1]), 100u);
  EXPECT_EQ(table_columns(ends[1]), SIZE_MAX);
  EXPECT_EQ(wrapped(std::string(60, 'a') + ' ' + std::string(39, 'b') + " c", SIZE_MAX),
            std::string(60, 'a') + ' ' + std::string(39, 'b') + "\nc");
  close(ends[0]);
  close(ends[1]);
}

TEST(Table, WideCharactersDoNotShiftTheColumns) {
  Table table({"NAME", "N"});
  table.add({"日本", "1"});
  table.add({"abcd", "10"});
  EXPECT_EQ(table.text(), "NAME   N\n"
                          "日本   1\n"
                          "abcd  10\n");
}

TEST(Table, NamesAreCutOffWhereTheLineIsTooLong) {
  Table table({"NAME", "N"});
  table.add({"a-very-long-name-of-a-thread", "1"});
  EXPECT_EQ(table.text(20), "NAME               N\n"
                            "a-very-long-name…  1\n");
  EXPECT_EQ(table.text(3), "NAME         N\n"
                           "a-very-long… 1\n")
      << "numbers are never cut off";
}

TEST(Table, TheWidestOfTheFirstColumnsIsCutOffFirst) {
  Table table({"NAME", "PLACE", "N"}, 2);
  table.add({"abcdefghijklmnopq", "ABCDEFGHIJKLMNOPQ", "1"});
  EXPECT_EQ(table.text(36), "NAME             PLACE             N\n"
                            "abcdefghijklmn…  ABCDEFGHIJKLMNO…  1\n");
  EXPECT_EQ(table.text(38), "NAME              PLACE              N\n"
                            "abcdefghijklmno…  ABCDEFGHIJKLMNOPQ  1\n");
  table.add({"a", "b", "22"});
  EXPECT_EQ(table.text(10), "NAME         PLACE         N\n"
                            "abcdefghijk… ABCDEFGHIJK…  1\n"
                            "a            b            22\n");
}

TEST(Table, LeavesPercentagesOutWhereTheLineIsTooLong) {
  Table table({"", "RUNNING\nTIME", "%", "%"}, 1);
  table.add({"a", "1", "10", "20"});
  EXPECT_EQ(table.text(18), "   RUNNING\n"
                            "      TIME   %   %\n"
                            "a        1  10  20\n");
  EXPECT_EQ(table.text(17), "   RUNNING\n"
                            "      TIME\n"
                            "a        1\n");
  EXPECT_EQ(table.text(9), "  RUNNING\n"
                           "     TIME\n"
                           "a       1\n")
      << "columns stand closer together if that is still too long";
}

TEST(Table, AHeadMayHaveTwoLines) {
  Table table({"NAME", "WOKEN\n(WARMING)"});
  EXPECT_TRUE(table.empty());
  table.add({"a", "1"});
  EXPECT_FALSE(table.empty());
  EXPECT_EQ(table.text(), "          WOKEN\n"
                          "NAME  (WARMING)\n"
                          "a             1\n");
}

TEST(EditDistance, CountsLetters) {
  EXPECT_EQ(edit_distance("why", "why"), 0u);
  EXPECT_EQ(edit_distance("wyh", "why"), 1u);
  EXPECT_EQ(edit_distance("abcd", "bxdc"), 3u);
  EXPECT_EQ(edit_distance("recrod", "record"), 1u);
  EXPECT_EQ(edit_distance("", "why"), 3u);
  EXPECT_EQ(edit_distance("Info", "info"), 0u);
}

TEST(HumanBytes, AreInThousandsOrMillions) {
  EXPECT_EQ(human_bytes(0), "0 kB");
  EXPECT_EQ(human_bytes(16'400), "16 kB");
  EXPECT_EQ(human_bytes(520'000), "0.5 MB");
  EXPECT_EQ(human_bytes(32'400'000), "32 MB");
  EXPECT_EQ(human_bytes(1'234'000'000), "1,234 MB");
}

} // namespace
} // namespace ovnitrace
