// SPDX-License-Identifier: BSD-2-Clause
// Reports records that trace.json counts and the chunk files do not have.
#pragma once

#include "emulator/input/host_input.h"
#include "emulator/input/source.h"

#include <string>

namespace ovnitrace {

/// Reports each file that is missing or has fewer records than the tracer wrote to it. Nothing is
/// known about the files of a tracer that was killed. REQUIRES: the records of all chunks were
/// counted.
void report_missing_records(const HostInput &host, DiagnosticSink &sink);

/// Does the same for a trace directory and counts the records itself. Throws Error as
/// open_trace_dir() does.
void report_missing_records(const std::string &directory, DiagnosticSink &sink);

} // namespace ovnitrace
