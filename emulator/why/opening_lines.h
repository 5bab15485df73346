// SPDX-License-Identifier: BSD-2-Clause
// Words the lines about the wait that hit a --trigger, and about the slowest waits.
#pragma once

#include "emulator/why/why_report.h"

#include <string>

namespace ovnitrace {

/// Returns a sentence about the wait or block that hit a --trigger, with the largest holders; empty
/// if the trace has none.
std::string hit_line(const WhyInput &input);
/// Returns a sentence about the slowest 1 % of the waits; empty if they are mostly behind the same
/// threads as all waits.
std::string tail_line(const WhyInput &input);

} // namespace ovnitrace
