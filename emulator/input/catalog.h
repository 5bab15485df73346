// SPDX-License-Identifier: BSD-2-Clause
// Learns what is in a trace before its first event is read.
#pragma once

#include "emulator/input/cut_plan.h"
#include "emulator/input/host_input.h"
#include "emulator/input/source.h"

#include <vector>

namespace ovnitrace {

/// Looks once through all files, at the codes of their records only, and says what they hold:
///  - threads, by host, tid and birth, with the last name that they were given,
///  - CPUs: those that chunks name and those that the host is said to have,
///  - begin: the first trace_start, or else the first event; end: the last trace_stop or event.
/// Corrects the CPU of each file to what its first chunk says, and counts its records. Throws Error
/// if a file has chunks of a newer version. Says nothing about damage: the reader of the events
/// does. What a cut needs of the files is collected in `planner`.
Catalog make_catalog(std::vector<HostInput> &hosts, CutPlanner &planner);

} // namespace ovnitrace
