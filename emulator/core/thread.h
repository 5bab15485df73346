// SPDX-License-Identifier: BSD-2-Clause
// A thread and a CPU as the replay sees them.
#pragma once

#include "emulator/core/thread_set.h"
#include "emulator/core/track.h"
#include "emulator/format/event.h"
#include "emulator/format/thread_state.h"

#include <cstdint>

namespace ovnitrace {

struct Thread {
  ThreadState state = ThreadState::Unknown;
  uint32_t cpu = kNone;    ///< index into System's CPUs, which hold the virtual ones too
  uint32_t node = 0;       ///< index into Catalog::nodes
  bool shown = true;       ///< false: left out of the trace, so that no CPU shows it
  bool out_of_cpu = false; ///< ovni streams: between KCO and KCI
  bool whole = false;      ///< nothing of it that is still to come was forgotten
};

/// Why events of a CPU are missing.
enum class Blackout : uint8_t { none, lost, forgotten };

struct Cpu {
  ThreadSet running;        ///< all that run on it, shown or not: what events are judged by
  ByTrack<ThreadSet> shown; ///< what its channels follow
  uint32_t node = 0;
  uint32_t index = 0; ///< number on its node; kNone for the virtual CPU
  Blackout blackout = Blackout::none;
};

} // namespace ovnitrace
