// SPDX-License-Identifier: BSD-2-Clause
// Which part of a trace an output shows.
#pragma once

#include "emulator/input/source.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ovnitrace {

/// All conditions must hold; a list that is empty admits all. All that the states at its start come
/// from is replayed before, so that these are right.
struct Cut {
  uint64_t from = 0;        ///< ns from the start of the trace
  uint64_t to = UINT64_MAX; ///< ns from the start of the trace; its last instant is shown
  std::vector<uint32_t> pids, tids;
  std::vector<std::string> comms; ///< names of threads, as shell patterns
  std::vector<uint32_t> cpus;     ///< numbers; of the rows of cpu.prv

  bool keeps(const ThreadInfo &thread) const;
  bool keeps_cpu(uint32_t index) const;
  /// Whether it leaves out any thread or time.
  bool cuts() const;
};

/// What of the time of a trace a cut shows, ns on the clock of the trace; from <= to.
struct TimeRange {
  uint64_t from, to;
};

/// Throws Error (usage) where the cut starts after its end or after that of the trace, or keeps no
/// thread of a trace that has some: that is a mistake of who asked for it.
void check_cut(const Cut &cut, const Catalog &catalog);

/// To be called with a cut that check_cut() accepts.
TimeRange range_of(const Cut &cut, const Catalog &catalog);

/// By thread of the catalog: 1 where the cut keeps it.
std::vector<uint8_t> kept_threads(const Cut &cut, const Catalog &catalog);

} // namespace ovnitrace
