// SPDX-License-Identifier: BSD-2-Clause
// Makes a timeline of a given size, from which pictures are drawn.
#pragma once

#include "emulator/core/cut.h"
#include "emulator/critical/path.h"
#include "emulator/input/source.h"
#include "emulator/input/trace_info.h"
#include "emulator/slices/shown_state.h"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace ovnitrace {

/// ns by ShownState.
using StateTimes = std::array<uint64_t, kShownStates>;

struct FigureRow {
  std::string label;            ///< "name (tid)", printable
  bool new_process = false;     ///< its process differs from that of the row above
  std::vector<StateTimes> time; ///< by column
  std::vector<uint64_t> path;   ///< by column: ns on the critical path; empty: no path
  bool on_path() const;
};

/// A wakeup of one thread by another.
struct FigureArrow {
  uint32_t from, to;    ///< rows
  uint64_t woken, runs; ///< ns from the start of the trace
};

/// A mark of `ovnitrace ctl mark`.
struct FigureMark {
  uint64_t at;      ///< ns from the start of the trace
  std::string text; ///< printable
};

/// A timeline. Its size is limited by rows and columns, whatever the trace.
struct Figure {
  std::string title, subtitle; ///< printable
  uint64_t from = 0, to = 0;   ///< ns from the start of the trace
  uint64_t step = 1;           ///< ns of a column; the last one can be shorter
  size_t columns = 1;
  std::vector<FigureRow> rows;          ///< threads in the order of the trace
  std::vector<uint8_t> dark;            ///< by column, 1: events of a CPU are missing
  uint64_t threads = 0;                 ///< kept by the cut, with those that have no row
  std::string path_of;                  ///< label of the thread of the path; empty: no path
  std::vector<uint64_t> path_elsewhere; ///< by column: ns of the path on threads without a row
  std::vector<FigureArrow> arrows;      ///< by time
  uint64_t wakeups = 0;                 ///< of a row by a row; the arrows are the longest of them
  std::vector<FigureMark> marks;        ///< by time: the first of those in the range
  uint64_t marks_left_out = 0;          ///< in the range, after these

  bool has_dark() const;
  /// Returns the time of a state over all rows, ns.
  uint64_t time_in(ShownState state) const;
};

struct FigureOptions {
  static constexpr size_t kMostArrows = 500;
  static constexpr size_t kMostMarks = 26; ///< each has a letter

  Cut cut;
  size_t rows = 40;      ///< most threads: the ones that ran or waited longest
  size_t columns = 1000; ///< approximate
  bool arrows = false;
  CriticalPath *path = nullptr; ///< to draw, for the times of the cut; borrowed, may be null
};

/// Reads the trace and returns the figure. `open` opens the trace, twice if it has more threads
/// than there are rows. Throws Error.
Figure make_figure(const std::string &path, const TraceInfo &info,
                   const std::function<std::unique_ptr<EventSource>()> &open,
                   const FigureOptions &options);

} // namespace ovnitrace
