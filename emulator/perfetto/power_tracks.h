// SPDX-License-Identifier: BSD-2-Clause
// Writes tracks of idle states, frequencies and stolen time of CPUs.
#pragma once

#include "emulator/core/system.h"
#include "emulator/perfetto/event_tracks.h"

#include <vector>

namespace ovnitrace::perfetto {

/// Does not show an idle state whose start was not seen. An idle state that is open when events are
/// lost ends there.
class PowerTracks {
public:
  /// Borrows both.
  PowerTracks(const Catalog &catalog, EventTracks &tracks)
      : catalog_(catalog), tracks_(tracks), idle_(catalog.cpus.size()) {}

  /// Takes an event in the range.
  void event(const Event &event, const System &system);

private:
  void end_idle(uint32_t cpu, uint64_t time);

  const Catalog &catalog_;
  EventTracks &tracks_;
  std::vector<uint8_t> idle_; ///< by CPU: in a state
};

} // namespace ovnitrace::perfetto
