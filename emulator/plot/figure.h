// SPDX-License-Identifier: BSD-2-Clause
// A timeline of a given size: what a picture of it is drawn from.
#pragma once

#include "emulator/core/cut.h"
#include "emulator/critical/path.h"
#include "emulator/input/source.h"
#include "emulator/input/trace_dir.h"
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
  bool new_process = false;     ///< the row above is of another process
  std::vector<StateTimes> time; ///< by column
  std::vector<uint64_t> path;   ///< by column: ns on the critical path; empty: none is drawn
  bool on_path() const;
};

/// A thread woke another one.
struct FigureArrow {
  uint32_t from, to;    ///< rows
  uint64_t woken, runs; ///< ns from the start of the trace
};

/// Bounded by rows and columns, whatever the trace.
struct Figure {
  std::string title, subtitle; ///< printable
  uint64_t from = 0, to = 0;   ///< ns from the start of the trace
  uint64_t step = 1;           ///< ns of a column; the last one can be shorter
  size_t columns = 1;
  std::vector<FigureRow> rows;          ///< threads in the order of the trace
  std::vector<uint8_t> dark;            ///< by column: 1: events of a CPU are missing
  uint64_t threads = 0;                 ///< that the cut keeps, with those that have no row
  std::string path_of;                  ///< label of whose critical path is drawn; empty: of nobody
  std::vector<uint64_t> path_elsewhere; ///< by column: ns of it on threads that have no row
  std::vector<FigureArrow> arrows;      ///< by time
  uint64_t wakeups = 0;                 ///< of a row by a row, of which the arrows are the longest

  bool has_dark() const;
  /// What a state takes of all rows, ns.
  uint64_t time_in(ShownState state) const;
};

struct FigureOptions {
  static constexpr size_t kMostArrows = 500;

  Cut cut;
  size_t rows = 40;      ///< threads that are drawn, at most: those that ran or waited longest
  size_t columns = 1000; ///< about
  bool arrows = false;
  CriticalPath *path = nullptr; ///< borrowed: one to draw, of the times of the cut
};

/// Reads the trace, twice where it has more threads than there are rows: `open` opens it each time.
/// Throws Error.
Figure make_figure(const std::string &path, const TraceInfo &info,
                   const std::function<std::unique_ptr<EventSource>()> &open,
                   const FigureOptions &options);

} // namespace ovnitrace
