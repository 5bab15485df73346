// SPDX-License-Identifier: BSD-2-Clause
// What ovnitrace says when a capture is over.
#pragma once

#include "user/record/trace_json.h"

#include <cstddef>
#include <string>

namespace ovnitrace {

/// On standard error: how much was captured of how many `threads`, where it is (`place`), and what
/// is missing.
void print_end(const TraceDescription &trace, size_t threads, const std::string &place);

/// Whether events are missing in the trace.
bool is_incomplete(const TraceDescription &trace);

/// What is missing and why, in one line; empty if nothing is.
std::string what_is_missing(const TraceDescription &trace);

} // namespace ovnitrace
