// SPDX-License-Identifier: BSD-2-Clause
// Places the marks of a time axis, and their texts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ovnitrace {

struct Axis {
  struct Mark {
    uint64_t at; ///< ns from the start of the trace
    std::string text;
  };
  std::string title; ///< what the numbers are, with their unit
  std::vector<Mark> marks;
};

/// Returns marks at round times of a range, at most `most` (2 or more). If numbers would be long,
/// they count from a round time, which the title names.
Axis make_axis(uint64_t from, uint64_t to, size_t most);

} // namespace ovnitrace
