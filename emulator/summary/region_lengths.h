// SPDX-License-Identifier: BSD-2-Clause
// Sums up the lengths of the regions of each chain of --control.
#pragma once

#include "emulator/summary/summary.h"

#include <cstdint>
#include <map>

namespace ovnitrace {

/// The regions of one chain that were stopped.
struct RegionLengths {
  const RegionSummary *first = nullptr; ///< the first of them
  uint64_t ns = 0;                      ///< total
  LatencyHistogram all = {};
};

/// Returns the sums by number of the chain, as in RegionSummary. Borrows the regions.
inline std::map<uint32_t, RegionLengths> lengths_by_chain(const Summary &summary) {
  std::map<uint32_t, RegionLengths> lengths;
  for (const RegionSummary &region : summary.regions) {
    if (!region.stop)
      continue;
    RegionLengths &of = lengths[region.chain];
    of.first = of.first ? of.first : &region;
    of.ns += region.stop - region.start;
    of.all.add(region.stop - region.start);
  }
  return lengths;
}

} // namespace ovnitrace
