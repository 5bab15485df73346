// SPDX-License-Identifier: BSD-2-Clause
// Explains why no region started in a capture with --control.
#pragma once

#include <string>
#include <vector>

namespace ovnitrace {

/// Returns which alarms would have started a region, and the command that shows where they are set.
/// `chains`: of --control; `command`: the program, empty with -p.
std::string no_region_text(const std::vector<std::string> &chains,
                           const std::vector<std::string> &command);

} // namespace ovnitrace
