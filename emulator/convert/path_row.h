// SPDX-License-Identifier: BSD-2-Clause
// Writes the critical path as a row of thread.prv, below the threads.
#pragma once

#include "emulator/convert/layout.h"
#include "emulator/convert/prv_rows.h"
#include "emulator/convert/views.h"
#include "emulator/critical/path.h"
#include "emulator/prv/pcf.h"

#include <set>

namespace ovnitrace {

/// PRV type: 1 + index of the responsible thread, 0 outside the path.
inline constexpr uint32_t kPathType = 490;
/// PRV type: 1 + enum Cause.
inline constexpr uint32_t kPathCauseType = 495;

class PathRow {
public:
  /// Borrows both. `begin`: time 0 of the .prv, ns on the clock of the trace.
  PathRow(CriticalPath &path, const Catalog &catalog, uint64_t begin)
      : path_(path), catalog_(catalog), begin_(begin), left_(path.segments.count()) {}

  /// Adds the row, as a task of its own, to the layout of the threads.
  void add_to(Layout &layout);
  /// Writes the segments that start at or before `time`, ns of the .prv.
  void put_until(uint64_t time, PrvRows &rows);
  /// Adds the types and their views. To be called when everything is written.
  void add_to(Pcf &pcf) const;
  void add_to(std::vector<View> &views, uint64_t length) const;

private:
  std::vector<PcfType> types() const;

  CriticalPath &path_;
  const Catalog &catalog_;
  uint64_t begin_;
  uint64_t left_;    ///< segments that are not written yet
  uint32_t row_ = 0; ///< in the layout
  bool ended_ = false;
  std::set<uint32_t> threads_; ///< on the path, as far as written
};

} // namespace ovnitrace
