// SPDX-License-Identifier: BSD-2-Clause
// Finds the threads of the program for which a trace was captured.
#pragma once

#include "emulator/core/cut.h"
#include "emulator/input/trace_info.h"

#include <cstdint>
#include <vector>

namespace ovnitrace {

/// Returns the process ids of the program and of its children, direct or not. Empty if no program
/// was started, or if the trace lacks it.
std::vector<uint32_t> program_pids(const TraceInfo &info, const Catalog &catalog);

/// Returns the first thread that had this tid, on this host or (kNone) on any; kNone if the trace
/// has no such thread.
uint32_t first_with_tid(const Catalog &catalog, uint32_t tid, uint32_t host = kNone);

/// Returns the main threads of the programs that ovnitrace started, at most one for each host.
std::vector<uint32_t> started_threads(const Catalog &catalog);

/// Returns `cut` narrowed to the program, if all threads of the machine were traced while it ran
/// (`-a -- PROGRAM`). A cut that selects threads is returned unchanged.
Cut cut_to_program(const Cut &cut, const TraceInfo &info, const Catalog &catalog);

} // namespace ovnitrace
