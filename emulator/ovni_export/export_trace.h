// SPDX-License-Identifier: BSD-2-Clause
// Exports a capture as an ovni trace directory.
#pragma once

#include "emulator/input/source.h"
#include "emulator/ovni_export/exporter.h"

#include <cstdint>
#include <string>

namespace ovnitrace::ovni {

struct ExportResult {
  Exporter::Counts counts;
  uint64_t streams = 0; ///< threads written
  uint64_t faults = 0;  ///< impossible events, reported to the sink
};

/// Replays `source` and writes the states and CPUs of its threads to the ovni trace directory
/// `directory`, which must not exist. Reports what is impossible to `sink`, as convert() does, at
/// most `faults_reported` times. Throws Error, also if no thread has a state, and leaves nothing
/// behind.
ExportResult export_trace(EventSource &source, const std::string &directory, DiagnosticSink &sink,
                          uint64_t faults_reported);

} // namespace ovnitrace::ovni
