// SPDX-License-Identifier: BSD-2-Clause
// Makes a flame graph of where threads were off their CPUs, in the folded format: a line for each
// stack, "process;thread;main;f;read;ksys_read_[k] 1234".
#pragma once

#include "emulator/off_cpu/off_cpu_times.h"

#include <functional>
#include <string_view>

namespace ovnitrace {

/// Calls `take` with each folded stack, in order, and its ns. `with_ids`: names are followed by the
/// ids of process and thread.
void each_folded(const OffCpuTimes &times, bool with_ids,
                 const std::function<void(const std::string &, uint64_t)> &take);

} // namespace ovnitrace
