// SPDX-License-Identifier: BSD-2-Clause
// `ovnitrace plot`: a figure has what the trace has, in bounded size, and a name is only a name.
#include "emulator/base/error.h"
#include "emulator/open/open_trace.h"
#include "emulator/plot/axis.h"
#include "emulator/plot/svg.h"
#include "emulator/plot/text_figure.h"
#include "emulator/summary/summarizer.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/random_schedule.h"
#include "tests/unit/support/read_svg.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace ovnitrace {
namespace {

using test::SvgRow;
using test::TraceBuilder;

class Plot : public ::testing::Test {
protected:
  Plot() : trace(dir.path()) {}

  Figure figure(const FigureOptions &options = {}) {
    trace.write();
    return make_figure(
        dir.path(), {}, [&] { return open_trace({{dir.path()}}, sink); }, options);
  }
  static SvgRow row_of(const Figure &figure, const std::string &label) {
    for (const auto &[title, row] : test::read_rows(svg_of(figure), figure.columns))
      if (title.starts_with(label))
        return row;
    ADD_FAILURE() << "no row " << label;
    return {};
  }
  /// 1000 ns: the first thread runs, is preempted and gets the CPU back; the second waits for it.
  void preemption() {
    auto &cpu = trace.cpu(0).at(1000).start().id(1, 11, 11, "a").id(2, 22, 22, "b").dispatch(1);
    cpu.at(1300).activate(2, 11).at(1400).epilogue(1, 22).dispatch(2);
    cpu.at(1700).sleep(2, 11).dispatch(1).at(1900).end(1, 11).at(2000).stop();
  }

  test::TempDir dir;
  TraceBuilder trace;
  test::CollectingSink sink;
};

TEST_F(Plot, AStateThatFillsItsColumnsIsABlock) {
  preemption();
  const Figure drawn = figure();
  EXPECT_EQ(drawn.columns, 1000u);
  EXPECT_EQ(drawn.step, 1u);
  EXPECT_TRUE(drawn.rows[1].new_process);
  const SvgRow a = row_of(drawn, "a (11)"), b = row_of(drawn, "b (22)");
  for (size_t c = 0; c < 1000; c++) {
    ASSERT_EQ(a.at("running")[c], c < 400 || (c >= 700 && c < 900) ? 18 : 0) << c;
    ASSERT_EQ(a.at("cooling")[c] > a.at("running")[c], c >= 400 && c < 700) << c;
    ASSERT_EQ(a.at("dead")[c], c >= 900 ? 18 : 0) << c;
    ASSERT_EQ(b.at("warming")[c] > b.at("running")[c], c >= 300 && c < 400) << c;
    ASSERT_EQ(b.at("paused")[c], c >= 700 ? 18 : 0) << c;
    ASSERT_FALSE(a.contains("paused"));
    ASSERT_EQ(b.at("unknown")[c], c < 300 ? 18 : 0) << c;
  }
}

TEST_F(Plot, AColumnIsDividedByTheSharesOfItsStates) {
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "a");
  for (uint64_t n = 0; n < 10; n++) // of each 1000 ns it runs 250, waits 250, sleeps 500
    cpu.at(n * 1000)
        .dispatch(1)
        .at(n * 1000 + 250)
        .epilogue(1)
        .at(n * 1000 + 500)
        .dispatch(1)
        .sleep(1)
        .at(n * 1000 + 999)
        .activate(1);
  cpu.at(10'000).stop();
  const SvgRow row = row_of(figure({.cut = {}, .columns = 10}), "a (11)");
  for (const int height : row.at("running"))
    EXPECT_EQ(height, 5); // 18 / 4
  for (const int height : row.at("cooling"))
    EXPECT_EQ(height, 10);
  for (const int height : row.at("warming"))
    EXPECT_EQ(height, 11) << "1 ns of 1000 is seen";
}

TEST_F(Plot, AColumnOfOnlyRunningAndWaitingShowsNoOtherState) {
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "a");
  for (uint64_t n = 0; n < 9; n++) // 375 of 900 ns it runs: 7.5 pixels
    cpu.at(n * 900).dispatch(1).at(n * 900 + 375).epilogue(1);
  cpu.at(8100).stop();
  const SvgRow row = row_of(figure({.cut = {}, .columns = 9}), "a (11)");
  EXPECT_EQ(row.at("running"), std::vector<int>(9, 8));
  EXPECT_EQ(row.at("cooling"), std::vector<int>(9, 18));
  EXPECT_FALSE(row.contains("paused"));
}

/// The sums of any trace are those of `info`.
TEST_F(Plot, AThrottledThreadIsThrottledUntilTheRefill) {
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "a").id(2, 22, 22, "b").dispatch(1);
  cpu.at(2000).epilogue(1, 22, FTRACE_OFFCPU_THROTTLED).dispatch(2).at(6000);
  cpu.record(FTrace_EXT_refill, 1).at(8000).epilogue(2, 11).dispatch(1).at(10'000).stop();
  const Figure drawn = figure({.cut = {}, .columns = 10});
  const std::string text = text_of(drawn, TextStyle::plain);
  EXPECT_NE(text.find("a (11) ##====xx##\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\n= Throttled: no CPU quota, or no budget until its next period\n"),
            std::string::npos)
      << text;
  const SvgRow row = row_of(drawn, "a (11)");
  for (size_t c = 0; c < 10; c++) {
    const int cooling = row.at("cooling")[c];
    EXPECT_EQ(row.at("throttled")[c] > cooling, c >= 2 && c < 6) << c;
    EXPECT_EQ(cooling > row.at("running")[c], c >= 6 && c < 8) << c;
  }
  EXPECT_NE(svg_of(drawn).find("<pattern id=\"throttled\""), std::string::npos);
}

TEST_F(Plot, ColumnsSumUpToWhatInfoSays) {
  for (unsigned seed = 0; seed < 60; seed++) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    trace = TraceBuilder(dir.path());
    const uint64_t end = test::random_schedule(trace, random);
    FigureOptions options;
    options.columns = 1 + random() % 50;
    options.cut.from = seed % 2 ? random() % (end - 100) : 0;
    const Figure drawn = figure(options);
    EXPECT_LE(drawn.columns, options.columns);
    const auto source = open_trace({{dir.path()}}, sink);
    const Summary summary = summarize(*source, options.cut);
    ASSERT_EQ(drawn.rows.size(), summary.threads.size());
    for (size_t t = 0; t < drawn.rows.size(); t++) {
      std::array<uint64_t, kThreadStates> sum{};
      for (const StateTimes &time : drawn.rows[t].time)
        for (size_t look = 0; look < time.size(); look++)
          sum[look == size_t(ShownState::throttled) ? size_t(ShownState::cooling) : look] +=
              time[look];
      sum[size_t(ShownState::dead)] = summary.threads[t].time[size_t(ThreadState::Dead)];
      EXPECT_EQ(sum, summary.threads[t].time);
    }
    EXPECT_TRUE(test::is_well_formed(svg_of(drawn)));
  }
}

TEST_F(Plot, ThreadsThatRanLongestOfManyAreDrawn) {
  auto &cpu = trace.cpu(0).at(0).start();
  for (uint16_t n = 1; n <= 300; n++)
    cpu.id(n, n, n, "t")
        .at(n * 1000u)
        .dispatch(n)
        .at(n * 1000u + (n % 7 == 3 ? 100 + n : 5))
        .sleep(n);
  cpu.at(400'000).stop();
  const Figure drawn = figure({.cut = {}, .rows = 20});
  ASSERT_EQ(drawn.rows.size(), 20u);
  for (size_t row = 0; row < 20; row++)
    EXPECT_EQ(drawn.rows[row].label, fmt::format("t ({})", 164 + 7 * row))
        << "in the trace's order";
  EXPECT_NE(svg_of(drawn).find("280 threads that ran or waited less are left out"),
            std::string::npos);
  EXPECT_NE(text_of(drawn, TextStyle::plain).find("280 threads that"), std::string::npos);
}

TEST_F(Plot, ArrowsAreTheWakeupsByThreadsThatWaitedLongest) {
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "waker").id(2, 22, 22, "woken");
  trace.cpu(1).at(0).start().id(2, 22, 22, "woken");
  for (uint64_t n = 1; n <= 1500; n++) {
    cpu.at(n * 10'000).activate(2, 11, n % 3 == 0 ? FTRACE_WAKER_SOFTIRQ : FTRACE_WAKER_TASK);
    trace.cpu(1).at(n * 10'000 + n).dispatch(2).at(n * 10'000 + 5'000).sleep(2);
  }
  cpu.at(16'000'000).stop();
  trace.cpu(1).at(16'000'000).stop();
  EXPECT_TRUE(figure().arrows.empty());
  const Figure drawn = figure({.cut = {}, .arrows = true});
  EXPECT_EQ(drawn.wakeups, 1000u) << "an interrupt is no thread";
  ASSERT_EQ(drawn.arrows.size(), 500u);
  EXPECT_EQ(drawn.arrows[0].woken, 7'510'000u);
  EXPECT_EQ(drawn.arrows[0].runs, 7'510'751u);
  EXPECT_EQ(drawn.arrows[0].from, 0u);
  EXPECT_EQ(drawn.arrows[0].to, 1u);
  EXPECT_TRUE(test::is_well_formed(svg_of(drawn)));
}

TEST_F(Plot, MissingEventsAreShown) {
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "a").dispatch(1);
  cpu.at(300).blackout_start().at(500).blackout_end(7).at(1000).stop();
  const Figure drawn = figure();
  for (size_t c = 0; c < 1000; c++)
    ASSERT_EQ(drawn.dark[c], c >= 300 && c < 500) << c;
  EXPECT_NE(svg_of(drawn).find("events missing"), std::string::npos);
  EXPECT_NE(text_of(drawn, TextStyle::plain).find("events missing"), std::string::npos);
  EXPECT_EQ(row_of(drawn, "a (11)").at("unknown")[400], 18);
}

class PlotMarks : public Plot {
protected:
  /// 1000 ns from 500 on the clock, with `marks`.
  Figure figure_with(const std::vector<std::pair<uint64_t, std::string>> &marks,
                     const FigureOptions &options = {}) {
    trace.cpu(0).at(500).start().id(1, 11, 11, "a").dispatch(1).at(1500).stop();
    nlohmann::json json{{"version", 1}};
    for (const auto &[time, text] : marks)
      json["marks"].push_back({{"time_ns", time}, {"text", text}});
    trace.json(json.dump());
    return figure(options);
  }
};

TEST_F(PlotMarks, HaveTheirPlaceAndText) {
  const Figure drawn = figure_with({{700, "one"}, {1500, "two <b>"}}, {.cut = {}, .columns = 10});
  const std::string text = text_of(drawn, TextStyle::plain);
  EXPECT_NE(text.find("                   marks   A      B\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\nA one at 200 ns\nB two <b> at 1.000 us\nA column"), std::string::npos)
      << text;
  const std::string svg = svg_of(drawn);
  EXPECT_TRUE(test::is_well_formed(svg));
  EXPECT_NE(svg.find(">two &lt;b&gt;</text>"), std::string::npos) << svg;
  EXPECT_EQ(svg.find("left out"), std::string::npos);
}

TEST_F(PlotMarks, OutsideTheRangeAreNotDrawn) {
  FigureOptions options;
  options.cut.from = 200;
  options.cut.to = 400;
  const Figure drawn =
      figure_with({{699, "before"}, {700, "first"}, {900, "last"}, {901, "after"}}, options);
  ASSERT_EQ(drawn.marks.size(), 2u);
  EXPECT_EQ(drawn.marks[0].text, "first");
  EXPECT_EQ(drawn.marks[0].at, 200u);
  EXPECT_EQ(drawn.marks[1].text, "last");
}

TEST_F(PlotMarks, MarksBeyondTheLettersAreCounted) {
  std::vector<std::pair<uint64_t, std::string>> marks(27, {600, "m"});
  const Figure drawn = figure_with(marks);
  EXPECT_EQ(drawn.marks.size(), 26u);
  EXPECT_NE(text_of(drawn, TextStyle::plain).find("\n1 more mark is left out.\n"),
            std::string::npos);
  EXPECT_NE(svg_of(drawn).find("1 more mark is left out."), std::string::npos);
}

TEST_F(Plot, ANameIsOnlyAName) {
  trace.cpu(0).at(0).start().id(1, 11, 11, "<script>&\"'").id(2, 22, 22, "\x1b[31m\n]]>");
  trace.cpu(0).dispatch(1).at(100).stop();
  const Figure drawn = figure();
  const std::string svg = svg_of(drawn);
  EXPECT_TRUE(test::is_well_formed(svg));
  EXPECT_NE(svg.find("&lt;script&gt;&amp;&quot;' (11)"), std::string::npos);
  EXPECT_EQ(svg.find("<script"), std::string::npos);
  EXPECT_EQ(text_of(drawn, TextStyle::plain).find('\x1b'), std::string::npos);
  EXPECT_EQ(xml_text("a\xef\xbf\xbf\xef\xbf\xbe\x01"), "a???");
}

TEST_F(Plot, AnEmptyTraceIsAFigure) {
  trace.cpu(0).at(100).start().stop();
  const Figure drawn = figure();
  EXPECT_EQ(drawn.columns, 1u);
  EXPECT_TRUE(test::is_well_formed(svg_of(drawn)));
  EXPECT_TRUE(text_of(drawn, TextStyle::plain).ends_with("\n\nNo thread was recorded.\n"));
}

TEST_F(Plot, TextWithoutColoursHasACharacterForEachState) {
  preemption();
  const std::string text = text_of(figure({.cut = {}, .columns = 10}), TextStyle::plain);
  EXPECT_NE(text.find("                  a (11) ####xxx##\n"), std::string::npos) << text;
  EXPECT_NE(text.find("                  b (22) ???o###...\n"), std::string::npos) << text;
  for (const char c : text)
    EXPECT_LT(uint8_t(c), 0x80);
}

TEST_F(Plot, TextInColoursTellsUnknownFromDead) {
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "a").id(2, 22, 22, "b");
  cpu.at(200).dispatch(1).at(400).end(1, 11).dispatch(2).at(800).stop();
  const std::string text = text_of(figure({.cut = {}, .columns = 4}), TextStyle::indexed);
  EXPECT_NE(text.find("a (11) ?\x1b[38;5;36m█  \x1b[0m"), text.npos) << text;
  EXPECT_NE(text.find("b (22) ??\x1b[38;5;36m██\x1b[0m"), text.npos) << text;
  EXPECT_NE(text.find("\x1b[39m  \x1b[0m Dead: has ended\n"), text.npos) << text;
  EXPECT_NE(text.find("\x1b[39m? \x1b[0m Unknown: not seen\n"), text.npos) << text;
}

TEST_F(Plot, TextInColoursDividesAColumn) {
  preemption();
  const Figure drawn = figure({.cut = {}, .columns = 1});
  const std::string text = text_of(drawn, TextStyle::true_color);
  // it runs for 600 of 1000 ns, and is preempted for most of the rest
  EXPECT_NE(text.find("\x1b[38;2;0;175;125m\x1b[48;2;205;75;0m▅\x1b[0m"), std::string::npos)
      << text;
  EXPECT_NE(text_of(drawn, TextStyle::indexed).find("\x1b[38;5;36m\x1b[48;5;166m▅"),
            std::string::npos);
  EXPECT_NE(text.find("\n▃ the height of Running, or of the longest wait, is its share of the "
                      "column\n"),
            std::string::npos)
      << text;
}

TEST(PlotAxis, HasRoundMarksInTheRange) {
  std::mt19937_64 random(1);
  for (int n = 0; n < 2000; n++) {
    const uint64_t from = random() >> (8 + random() % 56), length = random() >> (8 + random() % 56);
    const size_t most = 2 + random() % 20;
    const Axis axis = make_axis(from, from + length, most);
    ASSERT_LE(axis.marks.size(), most);
    for (size_t m = 0; m < axis.marks.size(); m++) {
      ASSERT_GE(axis.marks[m].at, from);
      ASSERT_LE(axis.marks[m].at, from + length);
      ASSERT_LE(axis.marks[m].text.size(), 14u) << axis.marks[m].text;
      if (m) {
        ASSERT_NE(axis.marks[m].text, axis.marks[m - 1].text);
      }
    }
  }
}

TEST(PlotAxis, CountsFromARoundTimeWhereNumbersWouldBeLong) {
  const Axis whole = make_axis(0, 857'500'000, 10);
  EXPECT_EQ(whole.title, "time from the start of the trace (ms)");
  ASSERT_EQ(whole.marks.size(), 9u);
  EXPECT_EQ(whole.marks[8].text, "800");
  const Axis seconds = make_axis(0, 2'006'000'000, 6);
  EXPECT_EQ(seconds.marks[1].text, "0.5");
  const Axis near = make_axis(1'500'000'120, 1'500'000'920, 5);
  EXPECT_EQ(near.title, "time from 1.5000000 s on (ns)");
  ASSERT_EQ(near.marks.size(), 4u);
  EXPECT_EQ(near.marks[0].at, 1'500'000'200u);
  EXPECT_EQ(near.marks[0].text, "200");
}

} // namespace
} // namespace ovnitrace
