// SPDX-License-Identifier: BSD-2-Clause
// Opens any input that can be converted. The kind of an input is found by looking at it.
#pragma once

#include "emulator/input/source.h"

#include <memory>
#include <string>
#include <vector>

namespace ovnitrace {

/// An input, as named on the command line.
struct TraceInput {
  std::string path;
  int64_t clock_offset_ns = 0; ///< added to each of its times, to bring hosts to one clock
};

/// Opens one trace, or several of one kind as one: each trace directory becomes a host. Scans the
/// whole input once, to find its threads. Throws Error if nothing can be read. Damage is reported
/// to `sink`, which must outlive the source, and the rest is read. `from`: start of the wanted
/// part, ns from the start of the trace. Scheduling events that do not matter to the states of
/// threads from then on are left out where possible.
std::unique_ptr<EventSource> open_trace(const std::vector<TraceInput> &inputs, DiagnosticSink &sink,
                                        uint64_t from = 0);

} // namespace ovnitrace
