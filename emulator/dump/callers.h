// SPDX-License-Identifier: BSD-2-Clause
// Finds the thread for events that do not name one: user events, ipoints, pointers and filter
// changes.
#pragma once

#include "emulator/core/replay.h"
#include "emulator/input/source.h"

namespace ovnitrace {

/// Finds the thread that logged an event whose parameters both belong to the program. It is the
/// thread that runs on the event's CPU, as in `convert`. Replays the scheduler's events; memory
/// grows with threads and CPUs.
class Callers {
public:
  /// Borrows the catalog.
  explicit Callers(const Catalog &catalog);

  /// Takes every event of the trace, in order. Sets the thread of an event that a program logged,
  /// if it is known.
  void find(Event &event);

private:
  NoDiagnostics silent_; ///< `convert` reports faults of the replay
  Replay replay_;
};

} // namespace ovnitrace
