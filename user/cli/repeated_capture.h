// SPDX-License-Identifier: BSD-2-Clause
// Runs captures one after another.
#pragma once

#include "emulator/cli/measure_runs.h"
#include "user/record/record.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace ovnitrace {

/// Runs a capture: record(), or what a test has in its place.
using RunCapture = std::function<RecordResult(const RecordOptions &)>;

/// How one of several captures ended.
struct RepeatedResult {
  int exit_status = 0; ///< of the program
  std::string missing; ///< as in RecordResult
};

/// Runs a capture in a process of its own, because record() gives up root for ever. HUP, INT, QUIT
/// and TERM that we get meanwhile are passed on; afterwards they end us with an Error. Call it on
/// the main thread, before any other thread is created. `capture`: what runs there. Throws Error.
RepeatedResult record_apart(const RecordOptions &options, const RunCapture &capture = record);

/// Runs the commands alternately, each `times` times and apart. Their traces are in numbered
/// directories of `options.directory`: those of the first command become `traces.a`, and those of
/// the others `traces.b`. Returns the exit status of the first program that failed, or 0. Throws
/// Error.
int record_alternately(RecordOptions options, const std::vector<std::vector<std::string>> &commands,
                       uint32_t times, ComparedTraces &traces, const RunCapture &capture = record);

/// Divides a command line into words, as a shell does with quotes and variables. Throws Error
/// (usage) for anything that only a shell can run.
std::vector<std::string> words_of(const std::string &command);

} // namespace ovnitrace
