// SPDX-License-Identifier: BSD-2-Clause
// Numbers processes as channels show them.
#pragma once

#include "emulator/core/channel.h"

#include <cstddef>
#include <cstdint>

namespace ovnitrace {

/// Returns the number of the process at `index` in the order of the rows: 1, 2, … without the two
/// numbers with which a CPU shows an error.
constexpr int64_t process_number(size_t index) {
  int64_t number = int64_t(index) + 1;
  for (const int64_t error : {kStateBad, kStateTooManyThreads})
    number += number >= error;
  return number;
}

} // namespace ovnitrace
