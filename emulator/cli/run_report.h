// SPDX-License-Identifier: BSD-2-Clause
// Writes one report, for `ovnitrace report` and for the one-step command.
#pragma once

#include "emulator/cli/compare_report.h"
#include "emulator/cli/path_options.h"
#include "emulator/report/write_report.h"

#include <string>

namespace ovnitrace {

struct ReportArguments {
  std::string output; ///< empty: report.html in the trace directory, or TRACE.html
  uint64_t most_bytes = kDefaultPageBytes;
  Cut cut = {};
  std::string why_command = {}; ///< that explains the same part, for the advice
  PathArguments path = {};
  AgainstArguments against = {}; ///< another run, on the same page
  bool open = false;             ///< in the browser
  bool quiet = false;
  bool force = false; ///< replace a page that exists; one in the trace directory always is
};

/// Writes the page and prints its path. Returns the exit status: 0, or 1 if a part of the trace is
/// damaged, which is reported. Throws Error.
int run_report(const std::string &trace, const ReportArguments &arguments);

} // namespace ovnitrace
