// SPDX-License-Identifier: BSD-2-Clause
// Describes a long wait or block in one line.
#pragma once

#include "emulator/why/why_report.h"

#include <string>

namespace ovnitrace {

/// Returns "worker-3 (12) waited 3.77 ms for CPU 1 at 0.412 s: woken by main (10) (futex), spinner
/// (99) ran there".
std::string wait_line(const WhyInput &input, const LongWait &wait);

/// Returns how long CPUs were idle in a wait: "worker-3 (12) at 0.412 s: 3.1 ms of 3.77 ms
/// (scheduler 3.1 ms)".
std::string idle_wait_line(const WhyInput &input, const LongWait &wait);

/// Returns "worker-3 (12) was blocked 12.0 ms at 0.412 s (futex): woken by main (10)".
std::string block_line(const WhyInput &input, const LongWait &block);

} // namespace ovnitrace
