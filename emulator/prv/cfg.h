// SPDX-License-Identifier: BSD-2-Clause
// Paraver configuration files: a timeline, or a 2D histogram of one, ready to be loaded on a trace.
#pragma once

#include "emulator/prv/pcf.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ovnitrace {

enum class CfgColor {
  code,             ///< each value its colour of the palette, and its label
  gradient,         ///< by size, from the least to the greatest
  not_null_gradient ///< by size, 0 stays background; above the maximum a colour of its own
};

/// What times on the axis and in histograms are counted in.
enum class CfgUnit { nanoseconds, microseconds, milliseconds, seconds };

/// The unit in which a time of this length has six digits at most, as Paraver shows no fractions of
/// it: ns up to 100 µs, µs up to 100 ms, ms up to 100 s, then seconds.
CfgUnit unit_for(uint64_t length_ns);

/// One timeline: the value that each row has of one event type.
struct CfgWindow {
  std::string name;  ///< "Thread: state of the CPU": the title of the window
  uint32_t type = 0; ///< event type
  CfgColor color = CfgColor::code;
  double minimum = 0, maximum = 0; ///< semantic scale; both 0: Paraver computes it
  std::vector<PcfValue> values;    ///< those with a colour have it in this window
  CfgUnit unit = CfgUnit::microseconds;
  bool arrows = false; ///< draw communications
};

/// A 2D histogram of a timeline: a row for each of its rows, a column for each range of its value.
struct CfgHistogram {
  std::string name = {};
  enum class Statistic { time, bursts } statistic = Statistic::time; ///< what a cell counts
  double minimum = 0, maximum = 0, delta = 1; ///< of the columns; with 1 a column for each value
  bool picture = false;    ///< cells are coloured; else their figures are in them, too
  bool transposed = false; ///< columns are rows
};

/// The line of the description by which a file of ours is known again. Paraver writes none when it
/// saves a configuration of the user's under the same name.
inline constexpr std::string_view kCfgMark = "Written by ovnitrace.";

/// The text of the .cfg. With a histogram only that is shown.
std::string cfg_text(const CfgWindow &window, const CfgHistogram *histogram = nullptr);

} // namespace ovnitrace
