// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/prv/cfg.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <sstream>

namespace ovnitrace {
namespace {

/// The lines of a .cfg by their tag; a tag is there once in a file of one window.
std::map<std::string, std::string> tags_of(const CfgWindow &window) {
  std::map<std::string, std::string> tags;
  std::istringstream in(cfg_text(window));
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#' || line.starts_with("ConfigFile.BeginDescription") ||
        line.starts_with("ConfigFile.EndDescription"))
      continue;
    size_t space = line.find(' ');
    EXPECT_TRUE(tags.emplace(line.substr(0, space), line.substr(space + 1)).second) << line;
  }
  return tags;
}

TEST(Cfg, ShowsOneTypeOfEveryThread) {
  CfgWindow window;
  window.name = "Thread: state";
  window.type = 4000000000;
  EXPECT_EQ(cfg_text(window).substr(0, 12), "#ParaverCFG\n");
  auto tags = tags_of(window);
  EXPECT_EQ(tags["ConfigFile.NumWindows:"], "1");
  EXPECT_EQ(tags["window_name"], "Thread: state");
  EXPECT_EQ(tags["window_type"], "single");
  EXPECT_EQ(tags["window_level"], "thread");
  EXPECT_EQ(tags["window_filter_module"], "evt_type 1 4000000000");
  EXPECT_NE(tags["window_selected_functions"].find("{thread, Last Evt Val}"), std::string::npos);
  EXPECT_NE(tags["window_selected_functions"].find("{evt_type, =}"), std::string::npos);
  EXPECT_EQ(tags["window_end_time_relative"], "1.000000000000");
}

TEST(Cfg, CountsTheFunctionsOfTheList) {
  auto tags = tags_of({});
  for (const char *tag : {"window_selected_functions", "window_compose_functions"}) {
    const std::string &value = tags[tag];
    auto braces = std::count(value.begin(), value.end(), '{');
    EXPECT_EQ(std::stol(value.substr(2)), braces - 2) << tag; // 2 enclose the list
    EXPECT_EQ(std::count(value.begin(), value.end(), '}'), braces) << tag;
  }
}

TEST(Cfg, UsesColourModesThatParaverKnows) {
  CfgWindow window;
  EXPECT_EQ(tags_of(window).count("window_color_mode"), 0u); // code colours are the default
  window.gradient = true;
  EXPECT_EQ(tags_of(window)["window_color_mode"], "window_in_null_gradient_mode");
}

TEST(Cfg, ColoursOfValuesBecomeThePaletteOfTheWindow) {
  CfgWindow window;
  window.values = {{1, "a", Color{1, 2, 3}}, {2, "b", {}}, {777, "c", Color{255, 0, 255}}};
  auto tags = tags_of(window);
  EXPECT_EQ(tags["window_custom_color_enabled"], "true");
  EXPECT_EQ(tags["window_custom_color_palette"], "{1:1,2,3},{777:255,0,255}");
  window.values = {{2, "b", {}}};
  tags = tags_of(window);
  EXPECT_EQ(tags["window_custom_color_enabled"], "false");
  EXPECT_EQ(tags.count("window_custom_color_palette"), 0u);
}

TEST(Cfg, ScaleIsComputedUnlessItIsGiven) {
  CfgWindow window;
  EXPECT_EQ(tags_of(window)["window_compute_y_max"], "true");
  window.maximum = 8;
  auto tags = tags_of(window);
  EXPECT_EQ(tags["window_compute_y_max"], "false");
  EXPECT_EQ(tags["window_maximum_y"], "8.000000");
  EXPECT_EQ(tags["window_minimum_y"], "0.000000");
}

TEST(Cfg, ArrowsAreDrawnWhereAsked) {
  CfgWindow window;
  EXPECT_EQ(tags_of(window)["window_comm_lines_enabled"], "false");
  window.arrows = true;
  EXPECT_EQ(tags_of(window)["window_comm_lines_enabled"], "true");
}

TEST(Cfg, HostileNameStaysOnItsLine) {
  CfgWindow window;
  window.name = "a\nwindow_level system";
  auto tags = tags_of(window);
  EXPECT_EQ(tags["window_name"], "a?window_level system");
  EXPECT_EQ(tags["window_level"], "thread");
  window.name = "";
  window.type = 6;
  EXPECT_EQ(tags_of(window)["window_name"], "Type 6");
}

TEST(Cfg, TimesAreInTheUnitThatIsAskedFor) {
  CfgWindow window;
  EXPECT_EQ(tags_of(window)["window_units"], "Microseconds");
  window.unit = CfgUnit::nanoseconds;
  EXPECT_EQ(tags_of(window)["window_units"], "Nanoseconds");
  window.unit = CfgUnit::milliseconds;
  EXPECT_EQ(tags_of(window)["window_units"], "Milliseconds");
  window.unit = CfgUnit::seconds;
  EXPECT_EQ(tags_of(window)["window_units"], "Seconds");
}

TEST(Cfg, TheUnitFitsTheLengthOfTheTrace) {
  EXPECT_EQ(unit_for(0), CfgUnit::nanoseconds);
  EXPECT_EQ(unit_for(100'000), CfgUnit::nanoseconds);
  EXPECT_EQ(unit_for(100'001), CfgUnit::microseconds);
  EXPECT_EQ(unit_for(100'000'000), CfgUnit::microseconds);
  EXPECT_EQ(unit_for(100'000'001), CfgUnit::milliseconds);
  EXPECT_EQ(unit_for(100'000'000'000), CfgUnit::milliseconds);
  EXPECT_EQ(unit_for(100'000'000'001), CfgUnit::seconds);
  EXPECT_EQ(unit_for(UINT64_MAX), CfgUnit::seconds);
}

TEST(Cfg, AGradientSpreadsItsSmallValues) {
  CfgWindow window;
  EXPECT_EQ(tags_of(window).count("window_gradient_function"), 0u);
  window.gradient = true;
  EXPECT_EQ(tags_of(window)["window_gradient_function"], "gradient_function_log");
}

TEST(Cfg, HistogramIsTheOnlyWindowShown) {
  CfgWindow window;
  window.type = 4;
  EXPECT_EQ(tags_of(window)["window_open"], "true");
  CfgHistogram histogram{
      .name = "Thread: time\nin each state", .minimum = 0, .maximum = 5, .delta = 1};
  std::string text = cfg_text(window, &histogram);
  auto line = [&text](const std::string &tag) {
    const size_t at = text.find("\n" + tag + " ");
    return at == std::string::npos ? "" : text.substr(at + 1, text.find('\n', at + 1) - at - 1);
  };
  EXPECT_NE(text.find("\n< NEW ANALYZER2D >\n"), std::string::npos);
  EXPECT_LT(text.find("window_filter_module"), text.find("< NEW ANALYZER2D >"));
  EXPECT_EQ(line("window_open"), "window_open false");
  EXPECT_EQ(line("Analyzer2D.Name:"), "Analyzer2D.Name: Thread: time?in each state");
  EXPECT_EQ(line("Analyzer2D.ControlWindow:"), "Analyzer2D.ControlWindow: 1");
  EXPECT_EQ(line("Analyzer2D.DataWindow:"), "Analyzer2D.DataWindow: 1");
  EXPECT_EQ(line("Analyzer2D.Statistic:"), "Analyzer2D.Statistic: Time");
  EXPECT_EQ(line("Analyzer2D.Minimum:"), "Analyzer2D.Minimum: 0.000000");
  EXPECT_EQ(line("Analyzer2D.Maximum:"), "Analyzer2D.Maximum: 5.000000");
  EXPECT_EQ(line("Analyzer2D.Delta:"), "Analyzer2D.Delta: 1.000000");
  EXPECT_EQ(line("Analyzer2D.HorizVert:"), "Analyzer2D.HorizVert: Horizontal");
  EXPECT_EQ(line("Analyzer2D.Zoom:"), "Analyzer2D.Zoom: Disabled");
  histogram.statistic = CfgHistogram::Statistic::bursts;
  histogram.picture = histogram.transposed = true;
  text = cfg_text(window, &histogram);
  EXPECT_EQ(line("Analyzer2D.Statistic:"), "Analyzer2D.Statistic: # Bursts");
  EXPECT_EQ(line("Analyzer2D.HorizVert:"), "Analyzer2D.HorizVert: Vertical");
  EXPECT_EQ(line("Analyzer2D.Zoom:"), "Analyzer2D.Zoom: Enabled");
  histogram.name = "";
  text = cfg_text(window, &histogram);
  EXPECT_EQ(line("Analyzer2D.Name:"), "Analyzer2D.Name: Histogram");
}

TEST(Cfg, NamesItsWriter) {
  EXPECT_NE(cfg_text({}).find("\nConfigFile.BeginDescription\nWritten by ovnitrace.\n"
                              "ConfigFile.EndDescription\n"),
            std::string::npos);
}

TEST(Cfg, AWindowWithItsHistogramIsThisFile) {
  CfgWindow window;
  window.name = "Thread: state";
  window.type = 7;
  window.minimum = 1;
  window.maximum = 250;
  window.values = {
      {0, "none", {}}, {1, "Running", Color{0, 175, 125}}, {2, "Paused", Color{66, 74, 96}}};
  window.unit = CfgUnit::milliseconds;
  window.arrows = true;
  const CfgHistogram histogram{.name = "Thread: time",
                               .statistic = CfgHistogram::Statistic::bursts,
                               .minimum = 1,
                               .maximum = 1000,
                               .delta = 2.5,
                               .picture = true,
                               .transposed = true};
  EXPECT_EQ(cfg_text(window, &histogram), R"cfg(#ParaverCFG
ConfigFile.Version: 3.4
ConfigFile.NumWindows: 1
ConfigFile.BeginDescription
Written by ovnitrace.
ConfigFile.EndDescription

window_name Thread: state
window_type single
window_id 1
window_position_x 0
window_position_y 0
window_width 900
window_height 300
window_comm_lines_enabled true
window_flags_enabled false
window_noncolor_mode true
window_custom_color_enabled true
window_custom_color_palette {1:0,175,125},{2:66,74,96}
window_logical_filtered true
window_physical_filtered false
window_intracomms_enabled true
window_intercomms_enabled true
window_units Milliseconds
window_maximum_y 250.000000
window_minimum_y 1.000000
window_compute_y_max false
window_level thread
window_scale_relative 1.000000000000
window_end_time_relative 1.000000000000
window_object appl { 1, { All } }
window_begin_time_relative 0.000000000000
window_open false
window_drawmode draw_randnotzero
window_drawmode_rows draw_randnotzero
window_pixel_size 1
window_labels_to_draw 1
window_selected_functions { 14, { {cpu, Active Thd}, {appl, Adding}, {task, Adding}, {thread, Last Evt Val}, {node, Adding}, {system, Adding}, {workload, Adding}, {from_obj, All}, {to_obj, All}, {tag_msg, All}, {size_msg, All}, {bw_msg, All}, {evt_type, =}, {evt_value, All} } }
window_compose_functions { 9, { {compose_cpu, As Is}, {compose_appl, As Is}, {compose_task, As Is}, {compose_thread, As Is}, {compose_node, As Is}, {compose_system, As Is}, {compose_workload, As Is}, {topcompose1, As Is}, {topcompose2, As Is} } }
window_filter_module evt_type 1 7

< NEW ANALYZER2D >
Analyzer2D.Name: Thread: time
Analyzer2D.X: 0
Analyzer2D.Y: 0
Analyzer2D.Width: 900
Analyzer2D.Height: 300
Analyzer2D.ControlWindow: 1
Analyzer2D.DataWindow: 1
Analyzer2D.Accumulator: Semantic
Analyzer2D.Statistic: # Bursts
Analyzer2D.CalculateAll: True
Analyzer2D.HideCols: True
Analyzer2D.HorizVert: Vertical
Analyzer2D.Color: True
Analyzer2D.SemanticColor: True
Analyzer2D.Zoom: Enabled
Analyzer2D.SortCols: False
Analyzer2D.AnalysisLimits: Allwindow
Analyzer2D.ComputeYScale: False
Analyzer2D.Minimum: 1.000000
Analyzer2D.Maximum: 1000.000000
Analyzer2D.Delta: 2.500000
Analyzer2D.UseFixedDelta: True
Analyzer2D.ComputeGradient: True
Analyzer2D.Objects: All
Analyzer2D.DrawModeObjects: draw_maximum
Analyzer2D.DrawModeColumns: draw_maximum
Analyzer2D.PixelSize: 1
Analyzer2D.ColorMode: window_in_null_gradient_mode
Analyzer2D.ShowOnlyTotals: False
Analyzer2D.ShortHeaderLabels: True
)cfg");
}

} // namespace
} // namespace ovnitrace
