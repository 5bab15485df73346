// SPDX-License-Identifier: BSD-2-Clause
// Names of the kernel's priorities.
#pragma once

#include "emulator/core/channel_def.h"

#include <vector>

namespace ovnitrace {

/// Of values that are the kernel's priority + FTRACE_PRIO_BIAS, as task_dispatch has it.
std::vector<ValueLabel> priority_labels();

} // namespace ovnitrace
