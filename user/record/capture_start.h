// SPDX-License-Identifier: BSD-2-Clause
// Says what is known of a capture when it starts.
#pragma once

#include "emulator/base/identity.h"
#include "user/record/record.h"
#include "user/record/trace_json.h"

#include <cstdint>
#include <string>

namespace ovnitrace {

/// Returns what is known before anything is logged. `cpus`: those that are possible. `runs_as`: the
/// user of the program.
TraceDescription describe(const RecordOptions &options, uint32_t cpus, const Identity &runs_as);

/// Returns whether ovnitrace starts a program once it has attached. The program would inherit a
/// filter of system calls.
bool starts_programs(const RecordOptions &options);

/// Says what is recorded: without a program, nothing else is to be seen until the end. `traced`: in
/// words. `place`: of the trace.
std::string start_text(const RecordOptions &options, const std::string &traced,
                       const std::string &place);

} // namespace ovnitrace
