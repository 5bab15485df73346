// SPDX-License-Identifier: BSD-2-Clause
// The inputs of a command line, with the offsets of their clocks.
#pragma once

#include "emulator/open/open_trace.h"

#include <string>
#include <vector>

namespace ovnitrace {

/// One input for each path. `offsets_file` may be empty; otherwise it is a table as ovni's
/// clock-offsets.txt (`rank hostname offset_median offset_mean offset_std`, in ns), from which each
/// trace directory gets the offset of its host. Throws Error if it cannot be read, is wrong, or
/// lacks a host.
std::vector<TraceInput> trace_inputs(const std::vector<std::string> &paths,
                                     const std::string &offsets_file);

} // namespace ovnitrace
