// SPDX-License-Identifier: BSD-2-Clause
// Writes a trace in Perfetto's format.
#pragma once

#include "emulator/core/cut.h"
#include "emulator/critical/path.h"
#include "emulator/input/stacks.h"
#include "emulator/input/trace_info.h"
#include "emulator/output/output_place.h"
#include "emulator/perfetto/sched_tracks.h"

namespace ovnitrace::perfetto {

struct WriteResult {
  SchedTracks::Counts sched;
  uint64_t track_events = 0; ///< slices and instants
  uint64_t threads = 0;      ///< shown threads
  uint64_t bytes = 0;        ///< of the file
};

/// Replays the whole trace and writes it. A `path` within the times of the cut gets a track.
/// `info`: about the machine, may be empty. `stacks`: may be null. Memory grows with threads, CPUs
/// and stacks. Throws Error, also for several hosts or a CPU that Perfetto cannot show, and leaves
/// nothing at `place`.
WriteResult write_perfetto(EventSource &source, const TraceInfo &info, const Cut &cut,
                           const OutputPlace &place, CriticalPath *path = nullptr,
                           const Stacks *stacks = nullptr);

} // namespace ovnitrace::perfetto
