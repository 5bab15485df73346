// SPDX-License-Identifier: BSD-2-Clause
// Selects the part of a trace that an output shows.
#pragma once

#include "emulator/input/source.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ovnitrace {

/// What to keep. All conditions must hold; an empty list admits everything. Events from before the
/// cut are replayed first, so the states at its start are right.
struct Cut {
  uint64_t from = 0;        ///< ns from the start of the trace
  uint64_t to = UINT64_MAX; ///< ns from the start of the trace; its last instant is shown
  std::vector<uint32_t> pids = {}, tids = {};
  std::vector<std::string> comms = {}; ///< names of threads, as shell patterns
  std::vector<uint32_t> cpus = {};     ///< numbers of CPUs: rows of cpu.prv

  bool keeps(const ThreadInfo &thread) const;
  bool keeps_cpu(uint32_t index) const;
  /// Returns whether threads are chosen, by number or by name.
  bool chooses_threads() const { return !pids.empty() || !tids.empty() || !comms.empty(); }
  /// Returns whether any thread or time is left out.
  bool cuts() const;
};

/// The time that a cut shows, ns on the clock of the trace; from <= to.
struct TimeRange {
  uint64_t from, to;
};

/// Throws Error (usage) for a mistake of the user: the cut starts after its end or after the
/// trace's end, or keeps none of the trace's threads. A live source may find such a thread later.
void check_cut(const Cut &cut, const Catalog &catalog);

/// Returns the time that a cut shows. REQUIRES: check_cut() accepts the cut.
TimeRange range_of(const Cut &cut, const Catalog &catalog);

/// Returns, by thread of the catalog, 1 if the cut keeps it.
std::vector<uint8_t> kept_threads(const Cut &cut, const Catalog &catalog);

} // namespace ovnitrace
