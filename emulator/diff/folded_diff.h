// SPDX-License-Identifier: BSD-2-Clause
// Makes a differential flame graph: each folded stack with its time before and after, as difffolded
// of the FlameGraph tools writes it.
#pragma once

#include "emulator/core/cut.h"
#include "emulator/diff/names.h"
#include "emulator/input/trace_dir.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ovnitrace {

/// Sums up the stacks of both sides. The names of processes and threads are folded.
class FoldedDiff {
public:
  /// Adds a run to the first side or to the second one. Reads all of `source`. Throws Error if
  /// check_cut() refuses the cut.
  void add(bool second, EventSource &source, const Cut &cut, DiagnosticSink &sink,
           const Renames &renames);
  /// Calls `take` for each line, "process;thread;main;read 1200 3400", without line end, in order.
  /// The numbers are the mean ns of a run on each side.
  void lines(const std::function<void(std::string_view)> &take) const;

private:
  struct Sum {
    uint64_t ns[2] = {0, 0};
  };
  std::map<std::string, Sum> sums_;
  uint64_t runs_[2] = {0, 0};
};

} // namespace ovnitrace
