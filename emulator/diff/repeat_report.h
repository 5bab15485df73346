// SPDX-License-Identifier: BSD-2-Clause
// Sums up several runs of one program: medians and how far the runs are apart.
#pragma once

#include "emulator/base/json_stream.h"
#include "emulator/diff/run_times.h"

#include <string>
#include <vector>

namespace ovnitrace {

/// Returns a table of the times of all runs, and one of the causes on the critical path.
std::string repeat_text(const std::vector<RunTimes> &runs, const Names &names, size_t columns);

/// Writes a JSON object. Times are ns. Keys are never renamed.
void write_repeat_json(const std::vector<RunTimes> &runs, const Names &names,
                       const JsonStream::Write &write);

} // namespace ovnitrace
