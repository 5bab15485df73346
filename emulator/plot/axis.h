// SPDX-License-Identifier: BSD-2-Clause
// The axis of time: where its marks are, and what stands at them.
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

/// Marks at round times of a range, `most` of them at most (2 or more). Where their numbers would
/// be long they count from a round time, which the title names.
Axis make_axis(uint64_t from, uint64_t to, size_t most);

} // namespace ovnitrace
