// SPDX-License-Identifier: BSD-2-Clause
// Idle states, frequencies and stolen time of CPUs, as tracks.
#pragma once

#include "emulator/core/system.h"
#include "emulator/perfetto/event_tracks.h"

#include <vector>

namespace ovnitrace::perfetto {

/// An idle state of which the start was not seen is not shown; one that was under way when events
/// were lost ends there.
class PowerTracks {
public:
  /// Borrows both.
  PowerTracks(const Catalog &catalog, EventTracks &tracks)
      : catalog_(catalog), tracks_(tracks), idle_(catalog.cpus.size()) {}

  /// An event in the range.
  void event(const Event &event, const System &system);

private:
  void end_idle(uint32_t cpu, uint64_t time);

  const Catalog &catalog_;
  EventTracks &tracks_;
  std::vector<uint8_t> idle_; ///< by CPU: in a state
};

} // namespace ovnitrace::perfetto
