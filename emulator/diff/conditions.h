// SPDX-License-Identifier: BSD-2-Clause
// Finds what else differs between the runs that are compared.
#pragma once

#include "emulator/diff/run_times.h"

#include <string>
#include <vector>

namespace ovnitrace {

/// Returns what a trace says about the machine and the capture: the same conditions for each trace.
std::vector<Condition> conditions_of(const TraceInfo &info);

/// A condition that is not the same everywhere.
struct Difference {
  std::string what, a, b; ///< in the first runs, in the second ones
};

/// Returns the conditions that differ between any two of the runs, and what disturbed some of them:
/// another frequency, stolen time, lost events.
std::vector<Difference> differences(const std::vector<RunTimes> &a, const std::vector<RunTimes> &b,
                                    const Names &names);

} // namespace ovnitrace
