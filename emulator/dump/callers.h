// SPDX-License-Identifier: BSD-2-Clause
// Which thread logged what names none: user events, ipoints, pointers and changes of filters.
#pragma once

#include "emulator/core/replay.h"
#include "emulator/input/source.h"

namespace ovnitrace {

/// Both parameters of these are the program's own, so no record of them names a thread: it is the
/// one that runs on the CPU where it was logged, as `convert` shows it. Replays the scheduler's
/// events for that; memory depends on threads and CPUs.
class Callers {
public:
  /// Borrows the catalog.
  explicit Callers(const Catalog &catalog);

  /// To be given every event of the trace, in order. Sets the thread of one that a program logged,
  /// if it is known.
  void find(Event &event);

private:
  NoDiagnostics silent_; ///< what the replay finds impossible, `convert` reports
  Replay replay_;
};

} // namespace ovnitrace
