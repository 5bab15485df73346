// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/prv/cfg.h"

#include "tests/unit/support/temp_dir.h"

#include <algorithm>
#include <fstream>
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
    if (line.empty() || line[0] == '#')
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

TEST(Cfg, NumberOfFunctionsIsThatOfTheList) {
  auto tags = tags_of({});
  for (const char *tag : {"window_selected_functions", "window_compose_functions"}) {
    const std::string &value = tags[tag];
    auto braces = std::count(value.begin(), value.end(), '{');
    EXPECT_EQ(std::stol(value.substr(2)), braces - 2) << tag; // 2 enclose the list
    EXPECT_EQ(std::count(value.begin(), value.end(), '}'), braces) << tag;
  }
}

TEST(Cfg, ColourModesAreThoseThatParaverKnows) {
  CfgWindow window;
  EXPECT_EQ(tags_of(window).count("window_color_mode"), 0u); // code colours are the default
  window.color = CfgColor::gradient;
  EXPECT_EQ(tags_of(window)["window_color_mode"], "window_in_gradient_mode");
  window.color = CfgColor::not_null_gradient;
  EXPECT_EQ(tags_of(window)["window_color_mode"], "window_in_null_gradient_mode");
}

TEST(Cfg, ValuesWithAColourAreTheWindowsPalette) {
  CfgWindow window;
  window.values = {{1, "a", PcfColor{1, 2, 3}}, {2, "b", {}}, {777, "c", PcfColor{255, 0, 255}}};
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

TEST(Cfg, IsWrittenAsItsText) {
  test::TempDir dir;
  CfgWindow window;
  write_cfg(dir / "t.cfg", window);
  std::ifstream file(dir / "t.cfg");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), cfg_text(window));
}

} // namespace
} // namespace ovnitrace
