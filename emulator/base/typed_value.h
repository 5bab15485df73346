// SPDX-License-Identifier: BSD-2-Clause
// Defines a value of a channel as it is written to a trace.
#pragma once

#include <cstdint>

namespace ovnitrace {

struct TypedValue {
  int64_t value = 0;
  uint32_t type = 0; ///< PRV type of the channel
};

} // namespace ovnitrace
