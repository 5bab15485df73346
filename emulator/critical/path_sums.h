// SPDX-License-Identifier: BSD-2-Clause
// Sums up a path by thread and cause.
#pragma once

#include "emulator/critical/path.h"

#include <vector>

namespace ovnitrace {

/// The sum of all segments that differ only in their times.
struct PathSum {
  PathSegment like; ///< one of them; its times mean nothing
  uint64_t ns = 0;
  uint64_t count = 0; ///< segments
  /// The number of waits and blocks: a wait has a segment for each holder of the CPU, and counts
  /// once.
  uint64_t stretches = 0;
};

/// Returns the sums, largest first. Together their ns are the length of the path. Memory grows with
/// the number of sums.
std::vector<PathSum> sum_up(CriticalPath &path);

} // namespace ovnitrace
