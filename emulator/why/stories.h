// SPDX-License-Identifier: BSD-2-Clause
// A wait for a CPU, or a block, in one line.
#pragma once

#include "emulator/why/why_report.h"

#include <string>

namespace ovnitrace {

/// "worker-3 (12) waited 3.77 ms for CPU 1 at 0.412 s: woken by main (10) (futex), spinner (99)
/// ran there"
std::string wait_story(const WhyInput &input, const Story &wait);

/// "worker-3 (12) was blocked 12.0 ms at 0.412 s (futex): woken by main (10)"
std::string block_story(const WhyInput &input, const Story &block);

} // namespace ovnitrace
