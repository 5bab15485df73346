// SPDX-License-Identifier: BSD-2-Clause
// One report, as `ovnitrace report` and the one-step command write it.
#pragma once

#include "emulator/cli/path_options.h"
#include "emulator/report/write_report.h"

#include <string>

namespace ovnitrace {

struct ReportArguments {
  std::string output; ///< empty: report.html in the trace directory, or TRACE.html
  uint64_t most_bytes = kDefaultPageBytes;
  Cut cut = {};
  PathArguments path = {};
  bool open = false; ///< in the browser
  bool quiet = false;
};

/// Writes the page and prints where. Returns the exit status: 0, or 1 where a part of the trace is
/// damaged, which is reported. Throws Error.
int run_report(const std::string &trace, const ReportArguments &arguments);

} // namespace ovnitrace
