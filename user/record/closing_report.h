// SPDX-License-Identifier: BSD-2-Clause
// Prints what ovnitrace says when a capture is over.
#pragma once

#include "user/record/trace_json.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace ovnitrace {

/// Prints on standard error how much was captured of how many `threads`, where it is (`place`), and
/// what is missing.
void print_end(const TraceDescription &trace, size_t threads, const std::string &place);

/// Returns whether events are missing in the trace.
bool is_incomplete(const TraceDescription &trace);

/// Returns how many of the `recorded` events are in the trace. REQUIRES: trace.dropped and
/// trace.not_written are set.
uint64_t events_in_trace(const TraceDescription &trace, uint64_t recorded);

/// Returns how a capture ended, in words. `stopped_early`: why tracing ended before the
/// program; empty if it did not. `how`: how the program or what else was traced ended.
std::string ending_text(const std::string &stopped_early, const std::string &how, bool has_program);

/// Returns the exit status after a capture: the program's, in `trace`, unless the trace is not
/// whole.
int exit_status_of(const TraceDescription &trace, bool has_program);

/// Returns what is missing and why, in one line; empty if nothing is missing.
std::string what_is_missing(const TraceDescription &trace);

} // namespace ovnitrace
