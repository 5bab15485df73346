// SPDX-License-Identifier: BSD-2-Clause
// Writes tracks of the other families: user events, sections, regions, marks, mutexes and
// interrupts.
#pragma once

#include "emulator/core/system.h"
#include "emulator/perfetto/event_tracks.h"

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace ovnitrace::perfetto {

/// Shows what began before the range, or while events were lost, only from its first event on. An
/// end without a start is ignored. What is open when events are lost ends there, except for
/// regions, which end with their thread or with the last shown thread of their process.
class FamilyTracks {
public:
  /// Borrows all. `kept`: as from kept_threads().
  FamilyTracks(const Catalog &catalog, const std::vector<uint8_t> &kept, EventTracks &tracks)
      : catalog_(catalog), kept_(kept), tracks_(tracks), waits_(catalog.threads.size()),
        sections_(catalog.threads.size()), served_(catalog.cpus.size()) {}

  /// Takes an event in the range, before its effect.
  void event(const Event &event, const System &system);
  /// Ends the sections of a thread that ends, or of which nothing is known from `time` on.
  void end_sections(uint32_t thread, uint64_t time);

private:
  void user_event(const Event &event, const System &system);
  void section(const Event &event, uint32_t thread);
  void region(const Event &event);
  void end_region(Track track, uint64_t time);
  void start_process(const Event &event);
  void end_thread(const Event &event, const System &system);
  void mark(const Event &event);
  void mutex(const Event &event);
  void end_wait(uint32_t thread, uint64_t time);
  void end_waits(uint64_t time);
  void interrupt(const Event &event);
  void end_interrupts(uint32_t cpu, size_t from, uint64_t time);

  const Catalog &catalog_;
  const std::vector<uint8_t> &kept_;
  EventTracks &tracks_;
  std::vector<uint8_t> waits_;                  ///< by thread: for a mutex
  std::vector<std::vector<uint32_t>> sections_; ///< by thread, the innermost last
  std::vector<std::vector<uint16_t>> served_;   ///< by CPU: interrupts, the innermost last
  std::unordered_set<uint64_t> regions_;        ///< numbers of the tracks of open ones
  /// Number of open ones, by the number of the track.
  std::unordered_map<uint64_t, uint32_t> marks_;
};

} // namespace ovnitrace::perfetto
