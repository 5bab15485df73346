// SPDX-License-Identifier: BSD-2-Clause
// Gives stacks the numbers that records use.
#pragma once

#include "user/chunk/sched_transition.h"

#include <cstdint>

namespace ovnitrace {

class StackNumbers {
public:
  virtual ~StackNumbers() = default;
  /// Returns the number of the stack that a record of SCHED_KIND_STACK names; 0 if it is not known.
  virtual uint32_t number(const SchedTransition &record) = 0;
};

} // namespace ovnitrace
