// SPDX-License-Identifier: BSD-2-Clause
// Makes the table of `why` with the times of each thread, process or name.
#pragma once

#include "emulator/why/why_report.h"

#include <string>

namespace ovnitrace {

/// Returns the lines of the table by thread, process or name, sorted as the options say, and a line
/// for the sum of the rest.
std::string times_table(const WhyInput &input, const WhyOptions &options);

} // namespace ovnitrace
