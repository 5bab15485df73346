// SPDX-License-Identifier: BSD-2-Clause
// The table of `why` that has the times of each thread, process or name.
#pragma once

#include "emulator/why/why_report.h"

#include <string>

namespace ovnitrace {

/// Returns the lines of the table: the largest first, as the options sort it, and one line for the
/// sum of those that are not shown.
std::string times_table(const WhyInput &input, const WhyOptions &options);

} // namespace ovnitrace
