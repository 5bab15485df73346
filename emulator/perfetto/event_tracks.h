// SPDX-License-Identifier: BSD-2-Clause
// Writes tracks of everything but the scheduler, with their slices and instants.
#pragma once

#include "emulator/input/source.h"
#include "emulator/perfetto/packet_file.h"

#include <initializer_list>
#include <string>
#include <string_view>
#include <unordered_set>

namespace ovnitrace::perfetto {

/// What a track shows. In its number, the kind is above 32 bits of index.
enum class TrackKind : uint64_t {
  trace = 1,      ///< index 0
  process,        ///< pid
  thread,         ///< thread
  process_region, ///< pid
  thread_region,  ///< thread
  mutex,          ///< thread
  unknown,        ///< thread: while its state is not known
  blocked,        ///< thread: while it is blocked, if stacks are known
  mark,           ///< thread * kMarkTypes + type
  interrupts,     ///< 0: group of all CPUs
  interrupt,      ///< CPU
  blackouts,      ///< 0: group of all CPUs
  blackout,       ///< CPU
  user_events,    ///< 0: events of unknown threads
  critical_path,  ///< 0: responsible threads
  idle_states,    ///< 0: group of all CPUs
  idle_state,     ///< CPU
  frequencies,    ///< 0: group of all CPUs
  frequency,      ///< CPU; a counter of kHz
  stolen_times,   ///< 0: group of all CPUs
  stolen_time,    ///< CPU; a counter of us
  outside_wakers, ///< 0: untraced threads that wake traced ones
};

struct Track {
  TrackKind kind;
  uint32_t index = 0;
  uint64_t uuid() const { return uint64_t(kind) << 32 | index; }
};

/// A fact about an event: a number, or a text if it is not empty.
struct Note {
  const char *name;
  int64_t number = 0;
  std::string_view text = {};
};
using Notes = std::initializer_list<Note>;

/// Writes events. A track is described with its first event. Times are ns. Names must be UTF-8.
class EventTracks {
public:
  /// Borrows both.
  EventTracks(const Catalog &catalog, PacketFile &file) : catalog_(catalog), file_(file) {}

  void begin(Track track, uint64_t time, std::string_view name, Notes notes = {});
  /// Ends the innermost open slice of the track.
  void end(Track track, uint64_t time);
  void instant(Track track, uint64_t time, std::string_view name, Notes notes = {});
  /// Writes a slice: begin() and end() in one call.
  /// `callstack`: at its start, as Callstacks::write() returns it; 0: none.
  void slice(Track track, uint64_t start, uint64_t end, std::string_view name, Notes notes = {},
             uint64_t callstack = 0);
  /// Sets the value of a counter from `time` on.
  void counter(Track track, uint64_t time, int64_t value);
  uint64_t count() const { return count_; } ///< of slices, instants and values

private:
  void put(Track track, uint64_t time, int32_t type, std::string_view name, Notes notes,
           uint64_t callstack = 0);
  void describe(Track track);
  Track parent(Track track) const;
  std::string name(Track track) const;

  const Catalog &catalog_;
  PacketFile &file_;
  std::unordered_set<uint64_t> described_;
  uint64_t count_ = 0;
};

} // namespace ovnitrace::perfetto
