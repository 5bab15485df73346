// SPDX-License-Identifier: BSD-2-Clause
// Makes of a recording what was asked for, and says what can be done with it.
#pragma once

#include "emulator/convert/convert.h"
#include "user/record/record.h"

#include <string>

namespace ovnitrace {

/// What the one-step command makes of what it recorded.
struct Outputs {
  ConvertOptions convert;
  bool report = false, open = false; ///< the page for the browser
  bool convert_it = true;            ///< to Paraver
};

/// Checks the options of outputs. With --send, nothing is converted here. Throws Error
/// (kExitUsage).
void check_outputs(const RecordOptions &options, const Outputs &outputs);

/// Prints which commands show a trace.
void print_uses(const std::string &directory);

/// Converts a recording. A failure does not affect the trace on disk. Returns the exit status: 0,
/// or 1 after a message on stderr.
int convert_recording(const RecordResult &result, Outputs outputs, bool quiet);

/// Returns the exit status. The last line says what is missing in the trace, even with --quiet.
int end_recording(const RecordResult &result, int converted);

} // namespace ovnitrace
