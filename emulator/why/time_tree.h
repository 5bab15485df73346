// SPDX-License-Identifier: BSD-2-Clause
// Where the time went, as a tree: each node is a part of the one above it.
#pragma once

#include "emulator/why/why_report.h"

#include <string>
#include <vector>

namespace ovnitrace {

struct TimeNode {
  std::string label;
  uint64_t ns = 0;
  uint64_t count = 0;                        ///< times; 0: not counted
  const LatencyHistogram *lengths = nullptr; ///< of each of those that were seen whole; may be null
  std::vector<TimeNode> parts = {};          ///< most time first; what is not known is last
  bool known = true;                         ///< the trace says who it was
};

/// Of all threads together that are shown. Borrows the histograms of the input.
TimeNode time_tree(const WhyInput &input);

/// Its lines, aligned, in at most `columns`. No node shows more than `most` parts; the rest is one
/// more.
std::string tree_text(const TimeNode &tree, size_t most, size_t columns);

/// Percentiles of its causes, `most` at most; empty where none was seen whole.
std::string lengths_text(const TimeNode &tree, size_t most, size_t columns);

} // namespace ovnitrace
