// SPDX-License-Identifier: BSD-2-Clause
// Writes tracks of idle states, frequencies and stolen time of CPUs.
#pragma once

#include "emulator/core/system.h"
#include "emulator/perfetto/event_tracks.h"

#include <vector>

namespace ovnitrace::perfetto {

/// Does not show an idle state whose start was not seen. When events are lost, an open idle state
/// ends, and counters become 0.
class PowerTracks {
public:
  /// Borrows both.
  PowerTracks(const Catalog &catalog, EventTracks &tracks)
      : catalog_(catalog), tracks_(tracks), idle_(catalog.cpus.size()),
        frequency_(catalog.cpus.size()), stolen_(catalog.cpus.size()) {}

  /// Takes an event in the range.
  void event(const Event &event, const System &system);

private:
  void end_idle(uint32_t cpu, uint64_t time);
  void lose(uint32_t lost, uint64_t time);
  void set(Track track, uint64_t time, uint32_t value);

  const Catalog &catalog_;
  EventTracks &tracks_;
  std::vector<uint8_t> idle_;                ///< by CPU: in a state
  std::vector<uint32_t> frequency_, stolen_; ///< by CPU: values of the counters, 0: not known
};

} // namespace ovnitrace::perfetto
