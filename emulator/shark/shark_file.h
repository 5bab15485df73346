// SPDX-License-Identifier: BSD-2-Clause
// A plain FTrace file of S.Ha.R.K.: one CPU, any clock, no framing (docs/shark.md).
#pragma once

#include "emulator/input/source.h"

#include <memory>
#include <string>
#include <vector>

namespace ovnitrace::shark {

/// Whether `path` is a regular file: a plain FTrace file has nothing that it could be known by but
/// the codes of its records, which open_shark_files() looks at.
bool is_plain_file(const std::string &path);

/// One file, or several of one tracer, which writes one a chunk: together one trace, on one clock.
/// A chunk file of a trace directory, named alone, is read as that. Any other is looked through
/// twice: for its order and clock, and, in that order, for its tasks. Memory depends on the number
/// of runs (RunIndex) and of tasks. Events come in order of time; what a record implies
/// (Scheduling) comes after it, with its place in its file. Throws Error if a file cannot be read
/// or was named twice, is mostly of codes that FTrace does not have, or if there is no event at
/// all. What is only damaged is reported to `sink`, which must outlive the source.
std::unique_ptr<EventSource> open_shark_files(const std::vector<std::string> &paths,
                                              DiagnosticSink &sink);

} // namespace ovnitrace::shark
