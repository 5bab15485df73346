// SPDX-License-Identifier: BSD-2-Clause
// One conversion as a person sees it: progress, warnings, and the exit status that says how it
// went.
#pragma once

#include "emulator/convert/convert.h"
#include "emulator/open/open_trace.h"

#include <string>
#include <vector>

namespace ovnitrace {

/// What a conversion prints on stderr beside warnings.
enum class ConversionOutput {
  nothing,
  progress, ///< while it works, on a terminal
  all,      ///< and at the end what it wrote
};

/// Converts `inputs` to one timeline in options.directory. Returns 0, or 1 if a part of the input
/// is damaged (all the rest is converted) or, with lint, if anything in it is impossible. Throws
/// Error.
int run_conversion(const std::vector<TraceInput> &inputs, ConvertOptions options,
                   ConversionOutput output);

/// The command that converts `inputs` so: "ovnitrace convert", `flags`, models, output, inputs.
std::string conversion_command(const std::string &flags, const std::vector<TraceInput> &inputs,
                               const ConvertOptions &options);

} // namespace ovnitrace
