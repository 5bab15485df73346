// SPDX-License-Identifier: BSD-2-Clause
// Makes names, descriptions and sources of the inputs on a command line.
#pragma once

#include "emulator/input/trace_info.h"
#include "emulator/open/open_trace.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace ovnitrace {

/// Returns one input for each path. `offsets_file`, if not empty, is a table in the format of
/// ovni's clock-offsets.txt (`rank hostname offset_median offset_mean offset_std`, in ns). Each
/// trace directory gets the offset of its host from it. Throws Error if it cannot be read, is
/// wrong, or lacks a host.
std::vector<TraceInput> trace_inputs(const std::vector<std::string> &paths,
                                     const std::string &offsets_file = "");

/// Returns the path without slashes at its end, so that other names can be made of it. "." and ".."
/// become the name of that directory.
std::string nameable(const std::string &path);

/// Returns what trace.json says, empty for anything but a trace directory. Reports nothing:
/// open_trace() does.
TraceInfo about_trace(const std::string &path);

/// Returns a function that opens the trace for events from `from` on (open_trace()). Each
/// fault is reported to `sink` once, however often the trace is read. `sink` must outlive the
/// function, and the function must outlive the sources that it returns.
std::function<std::unique_ptr<EventSource>()> reopener(const std::string &path,
                                                       DiagnosticSink &sink, uint64_t from);

/// Returns a function that calls `open`, with a sink that passes each fault on to `sink` once.
/// Lifetimes as above.
std::function<std::unique_ptr<EventSource>()>
reopener(std::function<std::unique_ptr<EventSource>(DiagnosticSink &)> open, DiagnosticSink &sink);

} // namespace ovnitrace
