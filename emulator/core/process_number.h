// SPDX-License-Identifier: BSD-2-Clause
// Numbers of processes as channels show them.
#pragma once

#include "emulator/core/channel.h"

#include <cstddef>
#include <cstdint>

namespace ovnitrace {

/// Of the process at `index`, in the order of the rows: 1, 2, …, without the two that a CPU shows
/// for an error.
constexpr int64_t process_number(size_t index) {
  int64_t number = int64_t(index) + 1;
  for (const int64_t error : {kStateBad, kStateTooManyThreads})
    number += number >= error;
  return number;
}

} // namespace ovnitrace
