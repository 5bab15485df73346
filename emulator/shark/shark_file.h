// SPDX-License-Identifier: BSD-2-Clause
// Opens plain FTrace files of S.Ha.R.K.: one CPU, any clock, no framing (docs/shark.md).
#pragma once

#include "emulator/input/source.h"

#include <memory>
#include <string>
#include <vector>

namespace ovnitrace::shark {

/// Returns whether `path` is a regular file. A plain FTrace file has no other mark than the codes
/// of its records, which open_shark_files() checks.
bool is_plain_file(const std::string &path);

/// Opens one file, or several of one tracer, which writes a file for each chunk: together they are
/// one trace on one clock. A chunk file of a trace directory is read as such. Other files are
/// scanned twice: for their order and clock, then in that order for their tasks. Memory grows with
/// the numbers of runs (RunIndex) and tasks. Events come in order of time. What a record implies
/// (Scheduling) follows it, with its place in the file.
///
/// Throws Error if a file cannot be read, was named twice or has mostly codes that FTrace does not
/// have, or if there are no events. Damage is reported to `sink`, which must outlive the source.
std::unique_ptr<EventSource> open_shark_files(const std::vector<std::string> &paths,
                                              DiagnosticSink &sink);

} // namespace ovnitrace::shark
