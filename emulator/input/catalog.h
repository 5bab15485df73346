// SPDX-License-Identifier: BSD-2-Clause
// Finds out what is in a trace before its first event is read.
#pragma once

#include "emulator/input/cut_plan.h"
#include "emulator/input/host_input.h"
#include "emulator/input/source.h"

#include <vector>

namespace ovnitrace {

/// Scans all files once, only the codes of their records, and returns what they hold:
/// - threads, by host, tid and birth, with the last name that they were given,
/// - CPUs: those that chunks name and those that the host is said to have,
/// - begin: the first trace_start of a host, or the first event of a host without one,
/// - end: the last trace_stop or event.
/// Sets the CPU of each file to what its first chunk says, and counts its records. Collects in
/// `planner` what a cut needs to know about the files. Throws Error if a chunk is of a newer
/// version. Does not report damage: the reader of the events does.
Catalog make_catalog(std::vector<HostInput> &hosts, CutPlanner &planner);

} // namespace ovnitrace
