// SPDX-License-Identifier: BSD-2-Clause
// Makes Paraver configuration files, each with a timeline or a 2D histogram of one.
#pragma once

#include "emulator/prv/pcf.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ovnitrace {

/// The unit of times on axes and in histograms.
enum class CfgUnit { nanoseconds, microseconds, milliseconds, seconds };

/// Returns the unit in which a time of this length has at most six digits, because Paraver shows no
/// fractions. The limits are 100 µs for ns, 100 ms for µs and 100 s for ms.
CfgUnit unit_for(uint64_t length_ns);

/// A timeline: the value of one event type in each row.
struct CfgWindow {
  std::string name;  ///< title of the window: "Thread: state of the CPU"
  uint32_t type = 0; ///< event type
  /// Colours by size: 0 is background, and values above the maximum have a colour of their own.
  /// Without it, each value has a colour and a label.
  bool gradient = false;
  double minimum = 0, maximum = 0; ///< semantic scale; both 0: Paraver computes it
  std::vector<PcfValue> values;    ///< values with a colour have it in this window
  CfgUnit unit = CfgUnit::microseconds;
  bool arrows = false; ///< draw communications
};

/// A 2D histogram of a timeline: the same rows, and a column for each range of values.
struct CfgHistogram {
  std::string name = {};
  enum class Statistic { time, bursts } statistic = Statistic::time; ///< the content of a cell
  double minimum = 0, maximum = 0, delta = 1; ///< of the columns; 1: a column for each value
  bool picture = false;                       ///< colours only; false: numbers in the cells, too
  bool transposed = false;                    ///< columns are rows
};

/// The line of the description that marks our files. Paraver drops it when a user saves a
/// configuration under the same name.
inline constexpr std::string_view kCfgMark = "Written by ovnitrace.";

/// Returns the text of the .cfg. With a histogram, only that is shown.
std::string cfg_text(const CfgWindow &window, const CfgHistogram *histogram = nullptr);

} // namespace ovnitrace
