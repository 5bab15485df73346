// SPDX-License-Identifier: BSD-2-Clause
// Numbers of stacks, as records have them.
#pragma once

#include "user/chunk/sched_transition.h"

#include <cstdint>

namespace ovnitrace {

class StackNumbers {
public:
  virtual ~StackNumbers() = default;
  /// The number of the stack that a record of SCHED_KIND_STACK names; 0 if it is not known.
  virtual uint32_t number(const SchedTransition &record) = 0;
};

} // namespace ovnitrace
