// SPDX-License-Identifier: BSD-2-Clause
// Writes a trace in the format of Perfetto.
#pragma once

#include "emulator/core/cut.h"
#include "emulator/critical/path.h"
#include "emulator/input/stacks.h"
#include "emulator/input/trace_dir.h"
#include "emulator/output/output_place.h"
#include "emulator/perfetto/sched_tracks.h"

namespace ovnitrace::perfetto {

struct WriteResult {
  SchedTracks::Counts sched;
  uint64_t track_events = 0; ///< slices and instants
  uint64_t threads = 0;      ///< that are shown
  uint64_t bytes = 0;        ///< of the file
};

/// Replays the whole trace. A `path` of the times of the cut gets a track. `info` says of which
/// machine it is; it may say nothing. `stacks` may be null. Memory depends on threads, CPUs and
/// stacks. Throws Error, also where there are several hosts or a CPU that Perfetto cannot show;
/// then nothing is left at `place`.
WriteResult write_perfetto(EventSource &source, const TraceInfo &info, const Cut &cut,
                           const OutputPlace &place, CriticalPath *path = nullptr,
                           const Stacks *stacks = nullptr);

} // namespace ovnitrace::perfetto
