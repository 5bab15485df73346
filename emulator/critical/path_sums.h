// SPDX-License-Identifier: BSD-2-Clause
// What each thread and cause takes of a path.
#pragma once

#include "emulator/critical/path.h"

#include <vector>

namespace ovnitrace {

/// All segments that are alike.
struct PathSum {
  PathSegment like; ///< one of them; its times say nothing
  uint64_t ns = 0;
  uint64_t count = 0; ///< segments
  /// Of the segments, those that do not go on with the wait of the segment before: a wait has a
  /// segment for each holder of the CPU.
  uint64_t stretches = 0;
};

/// The largest first. Their ns are the length of the path. Memory depends on the kinds of segments
/// that there are.
std::vector<PathSum> sum_up(CriticalPath &path);

} // namespace ovnitrace
