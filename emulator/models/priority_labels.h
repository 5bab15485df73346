// SPDX-License-Identifier: BSD-2-Clause
// Names the kernel's priorities.
#pragma once

#include "emulator/core/channel_def.h"

#include <vector>

namespace ovnitrace {

/// Returns labels for the kernel's priority + FTRACE_PRIO_BIAS, as task_dispatch has it.
std::vector<ValueLabel> priority_labels();

} // namespace ovnitrace
