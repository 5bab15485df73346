// SPDX-License-Identifier: BSD-2-Clause
// One figure in all its parts, as SVG and as text, and where the numbers of an axis change their
// form.
#include "emulator/plot/axis.h"
#include "emulator/plot/svg.h"
#include "emulator/plot/text_figure.h"

#include <gtest/gtest.h>

namespace ovnitrace {
namespace {

/// 100 µs from 2 ms on: two threads of two processes, and three that are not drawn.
Figure drawn() {
  Figure figure;
  figure.title = "app <x>";
  figure.subtitle = "5 threads";
  figure.from = 2'000'000;
  figure.to = 2'100'000;
  figure.step = 10'000;
  figure.columns = 10;
  figure.threads = 5;
  const auto with = [](ShownState state, uint64_t ns, ShownState rest) {
    StateTimes time{};
    time[size_t(state)] = ns;
    time[size_t(rest)] += 10'000 - ns;
    return time;
  };
  using enum ShownState;
  figure.rows = {
      {"app (11)",
       false,
       {with(unknown, 10'000, paused), with(running, 10'000, paused), with(running, 5'000, cooling),
        with(cooling, 2'500, warming), with(warming, 2'500, paused), with(throttled, 5'000, paused),
        with(running, 100, paused), with(running, 9'900, paused), with(paused, 10'000, paused),
        with(dead, 10'000, paused)},
       {0, 10'000, 5'000, 0, 0, 0, 0, 0, 0, 0}},
      {"hog and more (22)",
       true,
       {with(paused, 10'000, paused), with(paused, 10'000, paused), with(paused, 5'000, running),
        with(running, 10'000, paused), with(running, 10'000, paused), with(running, 5'000, unknown),
        with(unknown, 10'000, paused), with(unknown, 6'000, dead), with(dead, 6'000, paused),
        with(running, 4'000, unknown)},
       {0, 0, 5'000, 10'000, 10'000, 0, 0, 0, 0, 1}}};
  figure.dark = {0, 0, 0, 0, 0, 1, 1, 0, 0, 1};
  figure.path_of = "app (11)";
  figure.path_elsewhere = {10'000, 0, 0, 0, 0, 10'000, 10'000, 10'000, 10'000, 0};
  figure.arrows = {{0, 1, 2'020'000, 2'025'000}};
  figure.wakeups = 3;
  figure.marks = {{2'010'000, "one"}, {2'100'000, "two"}};
  figure.marks_left_out = 2;
  return figure;
}

TEST(PlotDrawing, IsThisSvg) {
  EXPECT_EQ(
      svg_of(drawn()),
      R"svg(<svg xmlns="http://www.w3.org/2000/svg" width="1160" height="308" viewBox="0 0 1160 308" role="img" font-family="Helvetica,Arial,sans-serif" font-size="12" fill="#222">
<title>app &lt;x&gt;: 5 threads</title>
<defs>
<pattern id="dark" width="4" height="4" patternUnits="userSpaceOnUse"><rect width="4" height="4" fill="#ffffff"/><path d="M-1 5L5 -1M-1 1L1 -1M3 5L5 3" stroke="#ff00ff" stroke-width="1.2"/></pattern>
<pattern id="unknown" width="6" height="6" patternUnits="userSpaceOnUse"><rect width="6" height="6" fill="#ffffff"/><path d="M2.4 3H3.6" stroke="#999999" stroke-width="1.2"/></pattern>
<pattern id="cooling" width="6" height="6" patternUnits="userSpaceOnUse"><rect width="6" height="6" fill="#cd4b00"/><path d="M-1 7L7 -1M-1 1L1 -1M5 7L7 5" stroke="#7b2d00" stroke-width="1.2"/></pattern>
<pattern id="warming" width="4" height="4" patternUnits="userSpaceOnUse"><rect width="4" height="4" fill="#aac8ff"/><path d="M1 0V4" stroke="#667899" stroke-width="1.2"/></pattern>
<pattern id="throttled" width="4" height="4" patternUnits="userSpaceOnUse"><rect width="4" height="4" fill="#ebcd00"/><path d="M0 1H4" stroke="#8d7b00" stroke-width="1.2"/></pattern>
<marker id="tip" viewBox="0 0 6 6" refX="6" refY="3" markerWidth="5" markerHeight="5" orient="auto"><path d="M0 0L6 3L0 6z" fill="#111"/></marker>
</defs>
<rect width="100%" height="100%" fill="#fff"/>
<text x="10.0" y="24.0" font-size="16" font-weight="bold">app &lt;x&gt;</text>
<text x="10.0" y="43.0" fill="#555">5 threads</text>
<text x="121.9" y="71.0" text-anchor="end">app (11)</text>
<g transform="translate(129.9 58) scale(100 1)"><title>app (11); running 25.00 us; cooling 7.500 us; warming 10.00 us; throttled 5.000 us; paused 32.50 us; dead 10.00 us; unknown 10.00 us</title><path class="paused" fill="#ced0d6" d="M4 0H9V18H4z"/><path class="dead" fill="#ededed" d="M9 0H10V18H9z"/><path class="unknown" fill="url(#unknown)" d="M0 0H1V18H0z"/><path class="throttled" fill="url(#throttled)" d="M1 18V0H4V13H5V9H6V17H7V0H8V18z"/><path class="warming" fill="url(#warming)" d="M1 18V0H4V13H5V18zM6 18V17H7V0H8V18z"/><path class="cooling" fill="url(#cooling)" d="M1 18V0H3V13H4V18zM6 18V17H7V0H8V18z"/><path class="running" fill="#00af7d" d="M1 18V0H2V9H3V18zM6 18V17H7V0H8V18z"/><path class="critical" transform="translate(0 18)" fill="#c00" d="M1 0H3V2H1z"/></g>
<text x="121.9" y="100.0" text-anchor="end">hog and more (22)</text>
<g transform="translate(129.9 87) scale(100 1)"><title>hog and more (22); running 34.00 us; paused 29.00 us; dead 10.00 us; unknown 27.00 us</title><path class="paused" fill="#ced0d6" d="M0 0H3V18H0z"/><path class="dead" fill="#ededed" d="M8 0H9V18H8z"/><path class="unknown" fill="url(#unknown)" d="M5 0H8V18H5zM9 0H10V18H9z"/><path class="running" fill="#00af7d" d="M2 18V9H3V0H5V9H6V18zM9 18V11H10V18z"/><path class="critical" transform="translate(0 18)" fill="#c00" d="M2 0H5V2H2zM9 0H10V2H9z"/></g>
<text x="121.9" y="119.0" text-anchor="end" fill="#c00">path elsewhere</text>
<g transform="translate(129.9 111) scale(100 1)"><path class="critical" transform="translate(0 4)" fill="#c00" d="M0 0H1V2H0zM5 0H9V2H5z"/></g>
<text x="121.9" y="133.0" text-anchor="end" fill="#a0a">events missing</text>
<g transform="translate(129.9 125) scale(100 1)"><path class="dark" fill="url(#dark)" d="M5 0H7V8H5zM9 0H10V8H9z"/></g>
<g class="arrows" stroke="#111" stroke-width="0.8" fill="none">
<path d="M329.9 67.0L379.9 96.0" marker-end="url(#tip)"/>
</g>
<path class="mark" d="M229.9 52V150" stroke="#06c" stroke-dasharray="4 2" fill="none"/>
<text x="233.9" y="148.0" font-size="11" fill="#06c">one</text>
<path class="mark" d="M1129.9 52V164" stroke="#06c" stroke-dasharray="4 2" fill="none"/>
<text x="1125.9" y="162.0" text-anchor="end" font-size="11" fill="#06c">two</text>
<path d="M129.9 166h1000M129.9 166v5M329.9 166v5M529.9 166v5M729.9 166v5M929.9 166v5M1129.9 166v5" stroke="#222" fill="none"/>
<g class="marks" text-anchor="middle">
<text x="129.9" y="184.0">2000</text>
<text x="329.9" y="184.0">2020</text>
<text x="529.9" y="184.0">2040</text>
<text x="729.9" y="184.0">2060</text>
<text x="929.9" y="184.0">2080</text>
<text x="1129.9" y="184.0">2100</text>
</g>
<text x="629.9" y="202.0" text-anchor="middle">time from the start of the trace (us)</text>
<g class="legend">
<rect x="129.9" y="216" width="24" height="12" fill="#00af7d" stroke="#888" stroke-width="0.5"/>
<text x="159.9" y="226"><tspan font-weight="bold">Running</tspan> on a CPU</text>
<rect x="289.8" y="216" width="24" height="12" fill="url(#cooling)" stroke="#888" stroke-width="0.5"/>
<text x="319.8" y="226"><tspan font-weight="bold">Cooling</tspan> preempted, waits for a CPU</text>
<rect x="570.3" y="216" width="24" height="12" fill="url(#warming)" stroke="#888" stroke-width="0.5"/>
<text x="600.3" y="226"><tspan font-weight="bold">Warming</tspan> woken, waits for a CPU</text>
<rect x="129.9" y="236" width="24" height="12" fill="url(#throttled)" stroke="#888" stroke-width="0.5"/>
<text x="159.9" y="246"><tspan font-weight="bold">Throttled</tspan> no CPU quota, or no budget until its next period</text>
<rect x="571.2" y="236" width="24" height="12" fill="#ced0d6" stroke="#888" stroke-width="0.5"/>
<text x="601.2" y="246"><tspan font-weight="bold">Paused</tspan> blocked</text>
<rect x="717.7" y="236" width="24" height="12" fill="#ededed" stroke="#888" stroke-width="0.5"/>
<text x="747.7" y="246"><tspan font-weight="bold">Dead</tspan> has ended</text>
<rect x="864.2" y="236" width="24" height="12" fill="url(#unknown)" stroke="#888" stroke-width="0.5"/>
<text x="894.2" y="246"><tspan font-weight="bold">Unknown</tspan> not seen</text>
</g>
<text x="129.9" y="264.0" font-size="11" fill="#555">A column is 10.00 us; where it has several states it is divided by their shares, Running at the bottom. 3 threads that ran or waited less are left out. 2 more marks are left out.</text>
<text x="129.9" y="279.0" font-size="11" fill="#c00">Below the rows: the critical path of app (11).</text>
<text x="129.9" y="294.0" font-size="11" fill="#555">Arrows lead from who woke a thread to when it got its CPU: 1 of 3 wakeups, those that waited longest.</text>
</svg>
)svg");
}

TEST(PlotDrawing, IsThisText) {
  EXPECT_EQ(text_of(drawn(), TextStyle::plain), R"text(app <x>
5 threads

                app (11) ?##o:=:#.
       hog and more (22) ..####?? :
           critical path *aabb****b
          events missing      !!  !
                   marks  A       B
                         +--------+
                         2000     2100
                         time from the start of the trace (us)

# Running: on a CPU
x Cooling: preempted, waits for a CPU
o Warming: woken, waits for a CPU
= Throttled: no CPU quota, or no budget until its next period
. Paused: blocked
blank Dead: has ended
? Unknown: not seen
: ran or waited for a CPU for less than half of the column
Critical path of app (11): a app (11), b hog and more (22), * another thread
A one at 2.010 ms
B two at 2.100 ms
2 more marks are left out.
A column is 10.00 us. 3 threads that ran or waited less are left out.
)text");
}

TEST(PlotDrawing, HasTheseColoursInATerminal) {
  const auto rows = [](TextStyle style) {
    const std::string text = text_of(drawn(), style);
    const size_t first = text.find("\n\n") + 2;
    return text.substr(first, text.find("\n\n", first) - first + 1);
  };
  EXPECT_EQ(rows(TextStyle::indexed),
            "                app (11) "
            "?\x1b[38;5;36m█\x1b[48;5;166m▄\x1b[38;5;153m▆\x1b[48;5;59m▂\x1b[38;5;184m▄\x1b[38;5;"
            "36m▁▇ \x1b[49m \x1b[0m\n"
            "       hog and more (22) \x1b[48;5;59m  \x1b[38;5;36m▄██\x1b[49m▄\x1b[39m??\x1b[49m "
            "\x1b[38;5;36m\x1b[49m▃\x1b[0m\n"
            "           critical path *aabb****b\x1b[0m\n"
            "          events missing      !!  !\x1b[0m\n"
            "                   marks  A       B\x1b[0m\n"
            "                         +--------+\n"
            "                         2000     2100\n"
            "                         time from the start of the trace (us)\n");
  EXPECT_EQ(
      rows(TextStyle::true_color),
      "                app (11) "
      "?\x1b[38;2;0;175;125m█\x1b[48;2;205;75;0m▄\x1b[38;2;170;200;255m▆\x1b[48;2;66;74;96m▂\x1b["
      "38;2;235;205;0m▄\x1b[38;2;0;175;125m▁▇ \x1b[49m \x1b[0m\n"
      "       hog and more (22) \x1b[48;2;66;74;96m  "
      "\x1b[38;2;0;175;125m▄██\x1b[49m▄\x1b[39m??\x1b[49m \x1b[38;2;0;175;125m\x1b[49m▃\x1b[0m\n"
      "           critical path *aabb****b\x1b[0m\n"
      "          events missing      !!  !\x1b[0m\n"
      "                   marks  A       B\x1b[0m\n"
      "                         +--------+\n"
      "                         2000     2100\n"
      "                         time from the start of the trace (us)\n");
}

TEST(PlotDrawing, TextHasTwentyColumnsOrWhatTheLabelsLeave) {
  EXPECT_EQ(text_columns(0), 20u);
  EXPECT_EQ(text_columns(25), 20u);
  EXPECT_EQ(text_columns(45), 20u);
  EXPECT_EQ(text_columns(46), 21u);
  EXPECT_EQ(text_columns(125), 100u);
}

TEST(PlotDrawing, RowsBeyondTheAlphabetShareAStarOnThePath) {
  Figure figure;
  figure.to = 28;
  figure.columns = 28;
  figure.threads = 28;
  figure.path_of = "t";
  figure.path_elsewhere.resize(28);
  figure.dark.resize(28);
  for (size_t row = 0; row < 28; row++) {
    FigureRow &one = figure.rows.emplace_back();
    one.label = "t";
    one.time.resize(28);
    one.path.resize(28);
    one.path[row] = row != 1; // the second is not on the path
  }
  const std::string text = text_of(figure, TextStyle::plain);
  EXPECT_NE(text.find("           critical path a bcdefghijklmnopqrstuvwxyz*\n"), text.npos)
      << text;
  EXPECT_EQ(text.find("left out"), text.npos);
  EXPECT_NE(
      text.find("\nCritical path of t: a t, b t, c t, d t, e t, f t, g t, h t, i t, j t, k t, "
                "l t, m t, n t, o t, p t,\n  q t, r t, s t, t t, u t, v t, w t, x t, y t, z t, "
                "* another thread\n"),
      text.npos)
      << text;
}

std::vector<std::string> marks(const Axis &axis) {
  std::vector<std::string> all;
  for (const Axis::Mark &mark : axis.marks)
    all.push_back(std::to_string(mark.at) + ": " + mark.text);
  return all;
}

TEST(PlotAxis, HasTheUnitThatTheLengthReaches) {
  using Texts = std::vector<std::string>;
  const Axis second = make_axis(0, 1'000'000'000, 3), less = make_axis(0, 999'999'999, 3);
  EXPECT_EQ(second.title, "time from the start of the trace (s)");
  EXPECT_EQ(marks(second), (Texts{"0: 0.0", "500000000: 0.5", "1000000000: 1.0"}));
  EXPECT_EQ(less.title, "time from the start of the trace (ms)");
  EXPECT_EQ(marks(less), (Texts{"0: 0", "500000000: 500"}));
  EXPECT_EQ(make_axis(0, 1'000'000, 3).title, "time from the start of the trace (ms)");
  EXPECT_EQ(make_axis(0, 999'999, 3).title, "time from the start of the trace (us)");
  EXPECT_EQ(make_axis(0, 1'000, 3).title, "time from the start of the trace (us)");
  EXPECT_EQ(make_axis(0, 999, 3).title, "time from the start of the trace (ns)");
  const Axis none = make_axis(7, 7, 3);
  EXPECT_EQ(none.title, "time from the start of the trace (ns)");
  EXPECT_EQ(marks(none), Texts{"7: 7"});
}

TEST(PlotAxis, CountsFromTheStartUpToTenThousandSteps) {
  using Texts = std::vector<std::string>;
  const Axis last = make_axis(10'000, 10'003, 4), next = make_axis(10'001, 10'004, 4);
  EXPECT_EQ(last.title, "time from the start of the trace (ns)");
  EXPECT_EQ(marks(last), (Texts{"10000: 10000", "10001: 10001", "10002: 10002", "10003: 10003"}));
  EXPECT_EQ(next.title, "time from 0.000010001 s on (ns)");
  EXPECT_EQ(marks(next), (Texts{"10001: 0", "10002: 1", "10003: 2", "10004: 3"}));
}

} // namespace
} // namespace ovnitrace
