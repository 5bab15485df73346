// SPDX-License-Identifier: BSD-2-Clause
// Runs captures one after another.
#pragma once

#include "user/record/record.h"

#include <functional>
#include <string>
#include <vector>

namespace ovnitrace {

/// How one of several captures ended.
struct RepeatedResult {
  int exit_status = 0; ///< of the program
  std::string missing; ///< as in RecordResult
};

/// Runs a capture in a process of its own, because record() gives up root for ever. HUP, INT, QUIT
/// and TERM that we get meanwhile are passed on; afterwards they end us with an Error. Call it on
/// the main thread, before any other thread is created. `capture`: what runs there. Throws Error.
RepeatedResult
record_apart(const RecordOptions &options,
             const std::function<RecordResult(const RecordOptions &)> &capture = record);

/// Divides a command line into words, as a shell does with quotes and variables. Throws Error
/// (usage) for anything that only a shell can run.
std::vector<std::string> words_of(const std::string &command);

} // namespace ovnitrace
