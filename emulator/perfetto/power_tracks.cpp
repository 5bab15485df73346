// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/perfetto/power_tracks.h"

#include "emulator/summary/names.h"

#include <ovnitrace/ftrace_codes.h>

namespace ovnitrace::perfetto {

void PowerTracks::event(const Event &event, const System &system) {
  if (event.cpu >= idle_.size())
    return;
  switch (event.kind) {
  case FTrace_EXT_idle_start:
    end_idle(event.cpu, event.time);
    idle_[event.cpu] = 1;
    return tracks_.begin({TrackKind::idle_state, event.cpu}, event.time,
                         idle_state_name(catalog_, event.cpu, event.par2));
  case FTrace_EXT_idle_end:
    return end_idle(event.cpu, event.time);
  case FTrace_EVT_blackout_start:
  case FTrace_EVT_blackout_end:
    return lose(event.cpu, event.time);
  case FTrace_EXT_frequency: { // another CPU may set it
    const uint32_t cpu = system.find_cpu(system.cpus()[event.cpu].host, event.par1);
    if (cpu < idle_.size())
      set({TrackKind::frequency, cpu}, event.time, event.par2);
    return;
  }
  case FTrace_EXT_steal:
    return set({TrackKind::stolen_time, event.cpu}, event.time, event.par2);
  }
}

/// Ends what may have changed while events were lost. Any CPU may have set the frequency of
/// another one.
void PowerTracks::lose(uint32_t lost, uint64_t time) {
  end_idle(lost, time);
  if (stolen_[lost])
    set({TrackKind::stolen_time, lost}, time, 0);
  for (uint32_t cpu = 0; cpu < frequency_.size(); cpu++)
    if (frequency_[cpu])
      set({TrackKind::frequency, cpu}, time, 0);
}

void PowerTracks::set(Track track, uint64_t time, uint32_t value) {
  (track.kind == TrackKind::frequency ? frequency_ : stolen_)[track.index] = value;
  tracks_.counter(track, time, value);
}

void PowerTracks::end_idle(uint32_t cpu, uint64_t time) {
  if (idle_[cpu])
    tracks_.end({TrackKind::idle_state, cpu}, time);
  idle_[cpu] = 0;
}

} // namespace ovnitrace::perfetto
