// SPDX-License-Identifier: BSD-2-Clause
// Shows where the time went as a tree: each node is a part of the node above it.
#pragma once

#include "emulator/why/why_report.h"

#include <string>
#include <vector>

namespace ovnitrace {

struct TimeNode {
  std::string label;
  uint64_t ns = 0;
  uint64_t count = 0;                        ///< times; 0: not counted
  const LatencyHistogram *lengths = nullptr; ///< of the times that were seen whole; may be null
  std::vector<TimeNode> parts = {};          ///< most time first, unknown last
  bool known = true;                         ///< the trace says who it was
};

/// Returns the tree of all shown threads together. `depth`: how many functions it names of a stack.
/// Borrows the histograms of the input.
TimeNode time_tree(const WhyInput &input, size_t depth = 1);

/// Returns aligned lines of at most `columns`. Shows at most `most` parts of a node, and the rest
/// as one more.
std::string tree_text(const TimeNode &tree, size_t most, size_t columns);

/// Returns percentiles for at most `most` causes. Empty if nothing was seen whole.
std::string lengths_text(const TimeNode &tree, size_t most, size_t columns);

} // namespace ovnitrace
