// SPDX-License-Identifier: BSD-2-Clause
// A plain FTrace file of S.Ha.R.K.: one CPU, any clock, no framing (docs/shark.md).
#pragma once

#include "emulator/input/source.h"

#include <memory>
#include <string>

namespace ovnitrace::shark {

/// Whether `path` is a regular file: a plain FTrace file has nothing that it could be known by but
/// the codes of its records, which open_shark_file() looks at.
bool is_plain_file(const std::string &path);

/// A chunk file of a trace directory is read as that. Any other is looked through twice: for its
/// order and clock, and, in that order, for its tasks. Memory depends on the number of runs
/// (RunIndex) and of tasks. Events come in order of time; what a record implies (Scheduling) comes
/// behind it, with its place in the file. Throws Error if the file cannot be read, has no event, or
/// is mostly of codes that FTrace does not have. What is only damaged is told to `sink`, which must
/// outlive the source.
std::unique_ptr<EventSource> open_shark_file(const std::string &path, DiagnosticSink &sink);

} // namespace ovnitrace::shark
