// SPDX-License-Identifier: BSD-2-Clause
// One conversion as a person sees it: progress, warnings, and the exit status that says how it
// went.
#pragma once

#include "emulator/convert/convert.h"
#include "emulator/open/open_trace.h"

#include <string>
#include <vector>

namespace ovnitrace {

/// Converts `inputs` to one timeline in options.directory; unless `quiet`, says what it wrote.
/// Returns 0, or 1 if a part of the input is damaged (all the rest is converted) or, with lint, if
/// anything in it is impossible. Throws Error.
int run_conversion(const std::vector<TraceInput> &inputs, ConvertOptions options, bool quiet);

/// The command that converts `inputs` so: "ovnitrace convert", `flags`, models, output, inputs.
std::string conversion_command(const std::string &flags, const std::vector<TraceInput> &inputs,
                               const ConvertOptions &options);

} // namespace ovnitrace
