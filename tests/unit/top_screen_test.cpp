// SPDX-License-Identifier: BSD-2-Clause
// The screen of `ovnitrace top`: what it shows, and what its keys do.
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"
#include "user/top/screen_content.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>

#define NCURSES_NOMACROS
#include <curses.h>

namespace ovnitrace {
namespace {

using Lines = std::vector<std::string>;

constexpr uint64_t kMs = 1'000'000; // ns
constexpr int kEscape = 27, kBackspace = 127;

ptrdiff_t characters(const std::string &text) {
  return std::count_if(text.begin(), text.end(), [](char byte) { return (byte & 0xc0) != 0x80; });
}

class Screen : public ::testing::Test {
protected:
  /// Threads t1 to t9 of process 100, each with a CPU for 9 ms, 8 ms, … 1 ms of 10 ms.
  Screen() {
    test::TraceBuilder trace(dir_.path());
    for (uint32_t n = 0; n < 9; n++) {
      auto &cpu = trace.cpu(n).at(0).start().id(1, 101 + n, 100, fmt::format("t{}", n + 1));
      cpu.dispatch(1).at((9 - n) * kMs).sleep(1, 0).at(20 * kMs).stop();
    }
    trace.write();
    content_.resize(kRows, 79);
  }
  void take(uint64_t from_ms, uint64_t to_ms) {
    content_.take(read_top_part(dir_.path(), from_ms * kMs, to_ms * kMs, sink_));
  }
  void type(const std::string &keys) {
    for (const char key : keys)
      content_.take_key(uint8_t(key));
  }
  std::vector<ScreenLine> lines() {
    tm clock{};
    clock.tm_hour = 12, clock.tm_min = 34, clock.tm_sec = 56, clock.tm_mday = 1;
    clock.tm_year = 100;
    return content_.lines(mktime(&clock), 1'000'000'000);
  }
  std::string title() { return lines()[0].text; }
  std::string last() { return lines().back().text; }
  /// The first word of each line of the table or text, "*" before that of the selected line.
  Lines list() {
    Lines found;
    const std::vector<ScreenLine> all = lines();
    for (size_t n = 4; n + 1 < all.size(); n++)
      if (!all[n].text.empty())
        found.push_back((all[n].look == ScreenLine::selected ? "*" : "") +
                        all[n].text.substr(0, all[n].text.find(' ')));
    return found;
  }
  bool has(const std::string &text) {
    for (const ScreenLine &line : lines())
      if (line.text.find(text) != std::string::npos)
        return true;
    return false;
  }

  static constexpr size_t kRows = 9; ///< of them, 4 of threads
  test::TempDir dir_;
  test::CollectingSink sink_;
  int saves_ = 0;
  ScreenContent content_{{}, [this] { saves_++; }};
};

TEST_F(Screen, SaysThatTheFirstIntervalIsBeingRecorded) {
  const std::vector<ScreenLine> all = lines();
  ASSERT_EQ(all.size(), kRows);
  EXPECT_EQ(all[0].text, "top  12:34:56  every 1.000 s  by thread  sorted by run");
  EXPECT_EQ(all[1].text, "the first interval is being recorded…");
  EXPECT_EQ(all[2].text, "");
  EXPECT_EQ(last(), "q end  s sort  g group  / names  space freeze  enter why  w write  ? help");
  type("\n");
  EXPECT_EQ(last(), "select a thread: g groups by thread") << "the table is empty";
}

TEST_F(Screen, HasATableWithABoldHeadAndASelectedLine) {
  take(0, 10);
  const std::vector<ScreenLine> all = lines();
  ASSERT_EQ(all.size(), kRows);
  EXPECT_EQ(all[1].text.find("9 threads   used 50 % of 9 CPUs"), 0u) << all[1].text;
  EXPECT_EQ(all[1].look, ScreenLine::plain);
  EXPECT_EQ(all[3].text.find("THREAD "), 0u) << all[3].text;
  EXPECT_EQ(all[3].look, ScreenLine::bold);
  EXPECT_EQ(list(), (Lines{"*t1", "t2", "t3", "t4"}));
}

TEST_F(Screen, AtFirstTheFirstLineIsSelectedAlsoIfProcess1IsShown) {
  test::TempDir other;
  test::TraceBuilder trace(other.path());
  trace.cpu(0).at(0).start().id(1, 50, 50, "busy").dispatch(1).at(8 * kMs).sleep(1, 0);
  trace.cpu(1).at(0).start().id(1, 1, 1, "init").dispatch(1).at(2 * kMs).sleep(1, 0);
  trace.cpu(0).at(10 * kMs).stop();
  trace.cpu(1).at(10 * kMs).stop();
  trace.write();
  content_.take(read_top_part(other.path(), 0, 10 * kMs, sink_));
  EXPECT_EQ(list(), (Lines{"*busy", "init"}));
}

TEST_F(Screen, TheSelectionMovesAndTheTableWithIt) {
  take(0, 10);
  content_.take_key(KEY_UP);
  EXPECT_EQ(list(), (Lines{"*t1", "t2", "t3", "t4"}));
  for (int n = 0; n < 3; n++)
    content_.take_key(KEY_DOWN);
  EXPECT_EQ(list(), (Lines{"t1", "t2", "t3", "*t4"}));
  content_.take_key(KEY_DOWN);
  EXPECT_EQ(list(), (Lines{"t2", "t3", "t4", "*t5"}));
  content_.take_key(KEY_UP);
  EXPECT_EQ(list(), (Lines{"t2", "t3", "*t4", "t5"}));
  content_.take_key(KEY_NPAGE);
  EXPECT_EQ(list(), (Lines{"t5", "t6", "t7", "*t8"}));
  content_.take_key(KEY_NPAGE);
  EXPECT_EQ(list(), (Lines{"t6", "t7", "t8", "*t9"}));
  content_.take_key(KEY_PPAGE);
  EXPECT_EQ(list(), (Lines{"*t5", "t6", "t7", "t8"}));
  content_.take_key(KEY_HOME);
  EXPECT_EQ(list(), (Lines{"*t1", "t2", "t3", "t4"}));
  content_.take_key(KEY_END);
  EXPECT_EQ(list(), (Lines{"t6", "t7", "t8", "*t9"}));
}

TEST_F(Screen, TheSelectionStaysWithItsThread) {
  take(0, 10);
  content_.take_key(KEY_DOWN);
  type("s"); // by preemption: all are equal, in row order
  EXPECT_EQ(title().find("sorted by run"), std::string::npos) << title();
  EXPECT_EQ(list(), (Lines{"t1", "*t2", "t3", "t4"}));
  type("S");
  EXPECT_NE(title().find("sorted by run"), std::string::npos) << title();
  type("/t2\n");
  EXPECT_EQ(list(), Lines{"*t2"});
}

TEST_F(Screen, FewerLinesThanTheSelectedOneSelectTheLast) {
  take(0, 10);
  content_.take_key(KEY_END);
  type("/t4\n");
  EXPECT_EQ(list(), Lines{"*t4"});
  type("g");
  EXPECT_NE(title().find("by process"), std::string::npos) << title();
  EXPECT_EQ(list(), Lines{"*process"}) << "its main thread is not traced";
}

TEST_F(Screen, GGroupsByThreadProcessAndName) {
  take(0, 10);
  type("g");
  EXPECT_NE(title().find("by process"), std::string::npos) << title();
  type("\n");
  EXPECT_EQ(last(), "select a thread: g groups by thread");
  type("g");
  EXPECT_NE(title().find("by name"), std::string::npos) << title();
  type("g");
  EXPECT_NE(title().find("by thread"), std::string::npos) << title();
}

TEST_F(Screen, TheFilterTakesKeysUntilEnter) {
  take(0, 10);
  type("/q");
  EXPECT_EQ(last(), "names with: q_");
  EXPECT_TRUE(title().ends_with("  names: q")) << title();
  EXPECT_FALSE(content_.has_ended()) << "q is a letter here";
  EXPECT_EQ(list(), Lines{});
  content_.take_key(kBackspace);
  EXPECT_EQ(last(), "names with: _");
  content_.take_key(KEY_BACKSPACE);
  type("t3 \b\n");
  EXPECT_EQ(list(), Lines{"*t3"});
  EXPECT_TRUE(title().ends_with("  names: t3")) << title();
  content_.take_key(kEscape);
  EXPECT_EQ(list(), Lines{"*t3"}) << "the escape of the table keeps it";
  type("/");
  content_.take_key(KEY_UP);
  content_.take_key(kEscape);
  EXPECT_EQ(list(), (Lines{"*t1", "t2", "t3", "t4"}));
  EXPECT_EQ(title().find("names"), std::string::npos) << title();
}

TEST_F(Screen, TheFilterTakesNoControlCharacters) {
  take(0, 10);
  type("/t\x01\t\x1f ~");
  EXPECT_EQ(last(), "names with: t ~_") << "a blank is a character";
}

TEST_F(Screen, TheFilterDropsWholeCharacters) {
  take(0, 10);
  type("/aé");
  EXPECT_EQ(last(), "names with: aé_");
  content_.take_key(kBackspace);
  EXPECT_EQ(last(), "names with: a_");
}

TEST_F(Screen, SortsByThePreviousColumnRoundAndBack) {
  take(0, 10);
  for (size_t times = 1; times < 20; times++) {
    type(std::string(times, 'S'));
    type(std::string(times, 's'));
    EXPECT_TRUE(title().ends_with("sorted by run")) << times << title();
  }
  type("S");
  EXPECT_FALSE(title().ends_with("sorted by run"));
}

TEST_F(Screen, SpaceFreezesAndContinues) {
  take(0, 10);
  type(" ");
  EXPECT_TRUE(content_.is_frozen());
  EXPECT_EQ(title().find("top  12:34:56 FROZEN  every"), 0u) << title();
  type(" ");
  EXPECT_FALSE(content_.is_frozen());
  EXPECT_EQ(title().find("FROZEN"), std::string::npos) << title();
}

TEST_F(Screen, WSavesAndAMessageLastsUntilTheNextKey) {
  take(0, 10);
  type("w");
  EXPECT_EQ(saves_, 1);
  EXPECT_EQ(last(), "saving…");
  content_.show("saved to x");
  EXPECT_EQ(last(), "saved to x");
  take(0, 10);
  EXPECT_EQ(last(), "saved to x");
  content_.take_key(KEY_DOWN);
  EXPECT_EQ(last().find("q end"), 0u);
  EXPECT_EQ(saves_, 1);
}

TEST_F(Screen, QEndsAlsoInTheHelp) {
  type("h");
  EXPECT_TRUE(has("q           end"));
  EXPECT_FALSE(content_.has_ended());
  type("q");
  EXPECT_TRUE(content_.has_ended());
}

TEST_F(Screen, TheHelpHasALineForEachKey) {
  content_.resize(30, 79);
  type("?");
  Lines help;
  for (const ScreenLine &line : lines())
    help.push_back(line.text);
  help.resize(11);
  help.erase(help.begin()); // the title
  EXPECT_EQ(help,
            (Lines{"q           end", "s, S        sort by the next column, or by the previous one",
                   "g           group by thread, process or name",
                   "/           show only names that contain a text; empty: all",
                   "space       freeze the screen; again: continue",
                   "up, down    select a line; also page up, page down, home and end",
                   "enter       explain the selected thread: `ovnitrace why` of the last interval",
                   "w           write the flight recorder, 8 MiB of events of each CPU, as a trace",
                   "h, ?        this help; escape leaves it", ""}));
}

TEST_F(Screen, TheHelpScrollsAndEscapeLeavesIt) {
  take(0, 10);
  content_.take_key(KEY_DOWN);
  type("?");
  EXPECT_EQ(lines()[1].text, "q           end");
  EXPECT_FALSE(has("escape leaves it"));
  type("s");
  EXPECT_NE(title().find("sorted by run"), std::string::npos) << "s is for the table";
  content_.take_key(KEY_DOWN);
  EXPECT_EQ(lines()[1].text.find("s, S"), 0u);
  content_.take_key(KEY_END);
  EXPECT_TRUE(has("h, ?        this help; escape leaves it"));
  EXPECT_EQ(lines()[kRows - 2].text.find("h, ?"), 0u) << "the last line is not left empty";
  EXPECT_EQ(last(), "escape back");
  content_.take_key(kEscape);
  EXPECT_EQ(list(), (Lines{"t1", "*t2", "t3", "t4"}));
  type("?");
  EXPECT_EQ(lines()[1].text, "q           end") << "it begins at its first line again";
  content_.take_key(KEY_BACKSPACE);
  EXPECT_EQ(list(), (Lines{"t1", "*t2", "t3", "t4"}));
}

TEST_F(Screen, ATextThatIsScrolledToItsEndFillsALargerTerminal) {
  type("?");
  content_.take_key(KEY_END);
  content_.resize(kRows + 1, 79);
  EXPECT_EQ(lines()[kRows - 1].text.find("h, ?"), 0u);
  content_.resize(100, 79);
  EXPECT_EQ(lines()[1].text, "q           end");
}

TEST_F(Screen, EnterExplainsTheSelectedThreadInEachInterval) {
  take(0, 10);
  content_.take_key(KEY_DOWN);
  content_.take_key(KEY_DOWN);
  type("\r");
  EXPECT_TRUE(has("t3 (103)"));
  const std::string top = lines()[1].text;
  content_.take_key(KEY_DOWN);
  const std::string first = lines()[1].text;
  EXPECT_NE(first, top);
  take(0, 10);
  EXPECT_EQ(lines()[1].text, first) << "the text stays where it was scrolled to";
  content_.take_key(KEY_HOME);
  EXPECT_TRUE(has("t3 (103)"));
  content_.take_key(KEY_END);
  content_.take_key(kBackspace);
  EXPECT_EQ(list(), (Lines{"t1", "t2", "*t3", "t4"}));
  type("\n");
  EXPECT_EQ(lines()[1].text, top) << "it begins at its first line again";
}

TEST_F(Screen, TheExplainedThreadStaysSelectedWhereverItsLineGoes) {
  take(0, 10);
  type("\r");
  content_.take_key(kEscape);
  EXPECT_EQ(list(), (Lines{"*t1", "t2", "t3", "t4"}));
  test::TempDir other;
  test::TraceBuilder trace(other.path());
  trace.cpu(0).at(0).start().id(1, 50, 50, "new").dispatch(1).at(8 * kMs).sleep(1, 0);
  trace.cpu(1).at(0).start().id(1, 101, 100, "t1").dispatch(1).at(2 * kMs).sleep(1, 0);
  trace.cpu(0).at(10 * kMs).stop();
  trace.cpu(1).at(10 * kMs).stop();
  trace.write();
  content_.take(read_top_part(other.path(), 0, 10 * kMs, sink_));
  EXPECT_EQ(list(), (Lines{"new", "*t1"}));
}

TEST_F(Screen, AnExplanationIsMadeAnewForAWiderTerminal) {
  take(0, 10);
  content_.resize(30, 20);
  type("\r");
  EXPECT_LE(characters(lines()[1].text), 20);
  content_.resize(30, 79);
  EXPECT_GT(characters(lines()[1].text), 20);
}

TEST_F(Screen, AThreadThatHasEndedIsNotExplained) {
  take(0, 10);
  content_.take_key(KEY_ENTER);
  EXPECT_TRUE(has("t1 (101)"));
  const std::string first = lines()[1].text;
  content_.take_key(KEY_END);
  EXPECT_NE(lines()[1].text, first) << "it is scrolled";
  test::TempDir other;
  test::TraceBuilder trace(other.path());
  trace.cpu(0).at(0).start().id(1, 200, 200, "other").dispatch(1).at(20 * kMs).stop();
  trace.write();
  content_.take(read_top_part(other.path(), 0, 10 * kMs, sink_));
  EXPECT_EQ(lines()[1].text, "this thread did not exist in the last interval");
  EXPECT_EQ(lines()[2].text, "");
}

TEST_F(Screen, LinesAreNotWiderOrMoreThanTheTerminal) {
  take(0, 10);
  for (const size_t rows : {0, 1, 2, 3, 4, 5, 6, 30}) {
    content_.resize(rows, 20);
    EXPECT_EQ(lines().size(), rows);
    for (const ScreenLine &line : lines())
      EXPECT_LE(characters(line.text), 20) << line.text;
  }
  for (const char *keys : {"?", "\r"}) {
    content_.resize(30, 79);
    content_.take_key(kEscape);
    type(keys);
    content_.resize(30, 20);
    for (const ScreenLine &line : lines())
      EXPECT_LE(characters(line.text), 20) << line.text;
  }
  content_.take_key(kEscape);
  content_.resize(6, 200);
  EXPECT_EQ(list(), Lines{"*t1"});
  EXPECT_NE(lines()[3].text.find("BLOCKED IN"), std::string::npos) << "made for 200 columns";
}

} // namespace
} // namespace ovnitrace
