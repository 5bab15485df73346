// SPDX-License-Identifier: BSD-2-Clause
// Passes the events of a trace to a dump, each with its thread.
#pragma once

#include "emulator/core/cut.h"
#include "emulator/dump/dump_line.h"
#include "emulator/input/source.h"

#include <cstdint>
#include <functional>

namespace ovnitrace {

/// Takes an event that is printed, and what formats it. Returns false to end the dump.
using PutEvent = std::function<bool(const DumpLine &, const Event &)>;

/// Replays a trace and passes the events of a cut to `put`, except those before `from` (ns on the
/// clock of the trace). If a program logged an event itself, its thread is the one that runs on its
/// CPU, as in `convert`, which also reports faults of the replay. Throws Error if check_cut()
/// refuses the cut.
void dump_events(EventSource &source, const Cut &cut, uint64_t from, const PutEvent &put);

} // namespace ovnitrace
