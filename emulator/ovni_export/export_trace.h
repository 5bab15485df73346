// SPDX-License-Identifier: BSD-2-Clause
// A capture as an ovni trace directory.
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
/// `directory`, which must not exist. What is impossible is reported to `sink`, as by convert(), at
/// most `faults_reported` of it. `progress` may be empty. Throws Error, also when no thread has a
/// state; then nothing is left over.
ExportResult export_trace(EventSource &source, const std::string &directory, DiagnosticSink &sink,
                          uint64_t faults_reported, const Progress &progress);

} // namespace ovnitrace::ovni
