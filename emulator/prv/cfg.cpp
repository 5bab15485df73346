// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/prv/cfg.h"

#include "emulator/prv/label.h"

#include <array>
#include <cstdio>

namespace ovnitrace {

namespace {

// The value of a thread is that of the last event of the type. Levels above add values. These
// windows are of the level of threads: a row of cpu.prv is a thread to Paraver, too.
constexpr char kFunctions[] =
    "window_selected_functions { 14, { {cpu, Active Thd}, {appl, Adding}, {task, Adding}, {thread, "
    "Last Evt Val}, {node, Adding}, {system, Adding}, {workload, Adding}, {from_obj, All}, "
    "{to_obj, "
    "All}, {tag_msg, All}, {size_msg, All}, {bw_msg, All}, {evt_type, =}, {evt_value, All} } }\n"
    "window_compose_functions { 9, { {compose_cpu, As Is}, {compose_appl, As Is}, {compose_task, "
    "As "
    "Is}, {compose_thread, As Is}, {compose_node, As Is}, {compose_system, As Is}, "
    "{compose_workload, As Is}, {topcompose1, As Is}, {topcompose2, As Is} } }\n";

constexpr std::array<const char *, 4> kUnits = {"Nanoseconds", "Microseconds", "Milliseconds",
                                                "Seconds"};
constexpr std::array<const char *, 2> kStatistics = {"Time", "# Bursts"};

std::string number(double value) {
  char text[64];
  snprintf(text, sizeof text, "%.6f", value);
  return text;
}

const char *boolean(bool value) {
  return value ? "true" : "false";
}

/// Returns the colours of one window: "{1:46,160,67},{2:…".
std::string palette_text(const std::vector<PcfValue> &values) {
  std::string text;
  for (const PcfValue &value : values)
    if (value.color)
      text += (text.empty() ? "{" : ",{") + std::to_string(value.value) + ":" +
              std::to_string(value.color->red) + "," + std::to_string(value.color->green) + "," +
              std::to_string(value.color->blue) + "}";
  return text;
}

/// Lines of a tag and its value.
class Lines {
public:
  void operator()(const char *tag, const std::string &value) {
    text += std::string(tag) + " " + value + "\n";
  }
  std::string text;
};

void put_window(Lines &line, const CfgWindow &window, bool open) {
  // A pixel with several values shows one of the codes, or the largest quantity: a short burst is
  // visible.
  const char *const draw_mode = window.gradient ? "draw_maximum" : "draw_randnotzero";
  const std::string palette = palette_text(window.values);
  const bool scaled = window.minimum != 0 || window.maximum != 0;
  line("window_name", one_line_label(window.name, "Type " + std::to_string(window.type)));
  line("window_type", "single");
  line("window_id", "1");
  line("window_position_x", "0");
  line("window_position_y", "0");
  line("window_width", "900");
  line("window_height", "300");
  line("window_comm_lines_enabled", boolean(window.arrows));
  line("window_flags_enabled", "false");
  line("window_noncolor_mode", "true");
  if (window.gradient) {
    line("window_color_mode", "window_in_null_gradient_mode");
    line("window_gradient_function", "gradient_function_log");
  }
  line("window_custom_color_enabled", boolean(!palette.empty()));
  if (!palette.empty())
    line("window_custom_color_palette", palette);
  line("window_logical_filtered", "true");
  line("window_physical_filtered", "false");
  line("window_intracomms_enabled", "true");
  line("window_intercomms_enabled", "true");
  line("window_units", kUnits[size_t(window.unit)]);
  line("window_maximum_y", number(scaled ? window.maximum : 1));
  line("window_minimum_y", number(window.minimum));
  line("window_compute_y_max", boolean(!scaled));
  line("window_level", "thread");
  line("window_scale_relative", "1.000000000000");
  line("window_end_time_relative", "1.000000000000");
  line("window_object", "appl { 1, { All } }");
  line("window_begin_time_relative", "0.000000000000");
  line("window_open", boolean(open));
  line("window_drawmode", draw_mode);
  line("window_drawmode_rows", draw_mode);
  line("window_pixel_size", "1");
  line("window_labels_to_draw", "1");
  line.text += kFunctions;
  line("window_filter_module", "evt_type 1 " + std::to_string(window.type));
}

void put_histogram(Lines &line, const CfgHistogram &histogram) {
  line.text += "\n< NEW ANALYZER2D >\n";
  line("Analyzer2D.Name:", one_line_label(histogram.name, "Histogram"));
  line("Analyzer2D.X:", "0");
  line("Analyzer2D.Y:", "0");
  line("Analyzer2D.Width:", "900");
  line("Analyzer2D.Height:", "300");
  line("Analyzer2D.ControlWindow:", "1");
  line("Analyzer2D.DataWindow:", "1");
  line("Analyzer2D.Accumulator:", "Semantic");
  line("Analyzer2D.Statistic:", kStatistics[size_t(histogram.statistic)]);
  line("Analyzer2D.CalculateAll:", "True");
  line("Analyzer2D.HideCols:", "True");
  line("Analyzer2D.HorizVert:", histogram.transposed ? "Vertical" : "Horizontal");
  line("Analyzer2D.Color:", "True");
  line("Analyzer2D.SemanticColor:", "True");
  line("Analyzer2D.Zoom:", histogram.picture ? "Enabled" : "Disabled");
  line("Analyzer2D.SortCols:", "False");
  line("Analyzer2D.AnalysisLimits:", "Allwindow");
  line("Analyzer2D.ComputeYScale:", "False");
  line("Analyzer2D.Minimum:", number(histogram.minimum));
  line("Analyzer2D.Maximum:", number(histogram.maximum));
  line("Analyzer2D.Delta:", number(histogram.delta));
  line("Analyzer2D.UseFixedDelta:", "True");
  line("Analyzer2D.ComputeGradient:", "True");
  line("Analyzer2D.Objects:", "All");
  line("Analyzer2D.DrawModeObjects:", "draw_maximum");
  line("Analyzer2D.DrawModeColumns:", "draw_maximum");
  line("Analyzer2D.PixelSize:", "1");
  line("Analyzer2D.ColorMode:", "window_in_null_gradient_mode");
  line("Analyzer2D.ShowOnlyTotals:", "False");
  line("Analyzer2D.ShortHeaderLabels:", "True");
}

} // namespace

CfgUnit unit_for(uint64_t length_ns) {
  constexpr uint64_t kMost = 100'000;
  uint64_t most = kMost;
  for (CfgUnit unit : {CfgUnit::nanoseconds, CfgUnit::microseconds, CfgUnit::milliseconds}) {
    if (length_ns <= most)
      return unit;
    most *= 1000;
  }
  return CfgUnit::seconds;
}

std::string cfg_text(const CfgWindow &window, const CfgHistogram *histogram) {
  Lines line;
  line.text += "#ParaverCFG\n";
  line("ConfigFile.Version:", "3.4");
  line("ConfigFile.NumWindows:", "1");
  line.text +=
      "ConfigFile.BeginDescription\n" + std::string(kCfgMark) + "\nConfigFile.EndDescription\n\n";
  put_window(line, window, !histogram);
  if (histogram)
    put_histogram(line, *histogram);
  return std::move(line.text);
}

} // namespace ovnitrace
