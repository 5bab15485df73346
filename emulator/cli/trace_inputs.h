// SPDX-License-Identifier: BSD-2-Clause
// The inputs of a command line: names made of theirs, what is known of them, how they are opened.
#pragma once

#include "emulator/input/trace_dir.h"
#include "emulator/open/open_trace.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace ovnitrace {

/// One input for each path. `offsets_file` may be empty; otherwise it is a table as ovni's
/// clock-offsets.txt (`rank hostname offset_median offset_mean offset_std`, in ns), from which each
/// trace directory gets the offset of its host. Throws Error if it cannot be read, is wrong, or
/// lacks a host.
std::vector<TraceInput> trace_inputs(const std::vector<std::string> &paths,
                                     const std::string &offsets_file = "");

/// The path without slashes at its end, so that a name can be made of it; "." and ".." become the
/// name of that directory.
std::string nameable(const std::string &path);

/// What trace.json says; empty for what is no trace directory. Reports nothing: open_trace() does.
TraceInfo about_trace(const std::string &path);

/// Opens the trace at each call, for what is from `from` on (open_trace()); reports to `sink`,
/// which outlives it, at the first.
std::function<std::unique_ptr<EventSource>()> reopener(const std::string &path,
                                                       DiagnosticSink &sink, uint64_t from);

} // namespace ovnitrace
