// SPDX-License-Identifier: BSD-2-Clause
// Opens two runs as one trace, for a page that compares them.
#pragma once

#include "emulator/report/against.h"

#include <functional>
#include <memory>
#include <string>

namespace ovnitrace {

/// The run with which a report compares its trace.
struct AgainstArguments {
  std::string trace; ///< empty: with none
  std::string mark;  ///< align both at the mark with this text; empty: at the start
};

/// Compares two trace directories and aligns them: at a mark, else at the longest section
/// `query.section`, else where the programs start. Throws Error.
Against compare_with(const std::string &trace, const AgainstArguments &against,
                     const RunQuery &query, DiagnosticSink &sink);

/// Returns a function that opens both as the hosts "A" and "B" of one trace. Each fault is reported
/// to `sink` once. `sink` must outlive the function.
std::function<std::unique_ptr<EventSource>()> pair_reopener(const std::string &trace,
                                                            const std::string &against,
                                                            int64_t shift, DiagnosticSink &sink);

} // namespace ovnitrace
