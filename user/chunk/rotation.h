// SPDX-License-Identifier: BSD-2-Clause
// Says when a trace is cut into parts (--rotate).
#pragma once

#include <cstdint>

namespace ovnitrace {

/// When a new part begins, and how many are kept.
struct Rotation {
  uint64_t bytes = 0; ///< in the files of a part; 0: no limit
  uint64_t time = 0;  ///< ns; 0: no limit
  uint64_t keep = 0;  ///< parts, and as many that a trigger keeps; 0: all

  bool wanted() const { return bytes || time; }
};

} // namespace ovnitrace
