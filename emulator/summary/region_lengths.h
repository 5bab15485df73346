// SPDX-License-Identifier: BSD-2-Clause
// How long the regions of each chain of --control were.
#pragma once

#include "emulator/summary/summary.h"

#include <cstdint>
#include <map>

namespace ovnitrace {

/// Of one chain, those of its regions that were stopped.
struct RegionLengths {
  const RegionSummary *first = nullptr; ///< of them
  uint64_t ns = 0;                      ///< together
  LatencyHistogram all = {};
};

/// By number of the chain, as RegionSummary has it. Borrows the regions.
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
