// SPDX-License-Identifier: BSD-2-Clause
// Runs one conversion with progress, warnings and an exit status.
#pragma once

#include "emulator/convert/convert.h"
#include "emulator/open/open_trace.h"

#include <string>
#include <vector>

namespace ovnitrace {

/// What a conversion prints on stderr, in addition to warnings.
enum class ConversionOutput {
  nothing,
  progress, ///< on a terminal, while it works
  all,      ///< and at the end, what it wrote
};

/// Converts `inputs` to one timeline in options.directory. Returns 0, or 1 if a part of the input
/// is damaged (everything else is converted), or if `lint` finds anything impossible. Throws Error.
int run_conversion(const std::vector<TraceInput> &inputs, const ConvertOptions &options,
                   ConversionOutput output);

/// Returns the command for this conversion: "ovnitrace convert", `flags`, models, output, inputs.
std::string conversion_command(const std::string &flags, const std::vector<TraceInput> &inputs,
                               const ConvertOptions &options);

} // namespace ovnitrace
