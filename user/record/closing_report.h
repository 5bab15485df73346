// SPDX-License-Identifier: BSD-2-Clause
// Prints what ovnitrace says when a capture is over.
#pragma once

#include "user/record/trace_json.h"

#include <cstddef>
#include <string>

namespace ovnitrace {

/// Prints on standard error how much was captured of how many `threads`, where it is (`place`), and
/// what is missing.
void print_end(const TraceDescription &trace, size_t threads, const std::string &place);

/// Returns whether events are missing in the trace.
bool is_incomplete(const TraceDescription &trace);

/// Returns what is missing and why, in one line; empty if nothing is missing.
std::string what_is_missing(const TraceDescription &trace);

} // namespace ovnitrace
