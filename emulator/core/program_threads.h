// SPDX-License-Identifier: BSD-2-Clause
// Which threads of a trace belong to the program that was started for it.
#pragma once

#include "emulator/core/cut.h"
#include "emulator/input/trace_dir.h"

#include <cstdint>
#include <vector>

namespace ovnitrace {

/// Returns the process ids of the program and of the children that it has created, directly or not.
/// Empty: no program was started, or the trace does not have it.
std::vector<uint32_t> program_pids(const TraceInfo &info, const Catalog &catalog);

/// Returns `cut`, narrowed to the program where all threads of the machine were recorded while it
/// ran (`-a -- PROGRAM`). A cut that names threads itself stays as it is.
Cut cut_to_program(const Cut &cut, const TraceInfo &info, const Catalog &catalog);

} // namespace ovnitrace
