// SPDX-License-Identifier: BSD-2-Clause
// What trace.json counts and the chunk files do not have.
#pragma once

#include "emulator/input/host_input.h"
#include "emulator/input/source.h"

#include <string>

namespace ovnitrace {

/// Reports each file that is missing, or has fewer records than the tracer wrote to it. How many a
/// tracer wrote that was killed is not known. The records of all chunks must have been counted.
void report_missing_records(const HostInput &host, DiagnosticSink &sink);

/// The same of a trace directory; counts the records itself. Throws Error as open_trace_dir() does.
void report_missing_records(const std::string &directory, DiagnosticSink &sink);

} // namespace ovnitrace
