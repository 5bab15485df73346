// SPDX-License-Identifier: BSD-2-Clause
// Measures the regions of --control, and what their threads did in them.
#pragma once

#include "emulator/core/system.h"
#include "emulator/slices/slice.h"
#include "emulator/summary/summary.h"

#include <map>
#include <utility>

namespace ovnitrace {

/// Fills Summary::regions from slices.
class RegionTimes {
public:
  explicit RegionTimes(Summary &summary) : summary_(summary) {}

  void event(const Event &event, const System &system);
  /// Takes a slice, including those that the stop of a region ends, which come just after it.
  void slice(const Slice &slice, const Catalog &catalog);

private:
  /// A process or, if regions belong to threads, a thread.
  using Owner = std::pair<uint32_t, uint32_t>; ///< host, pid or tid
  Owner owner_of(const ThreadInfo &thread) const {
    return {thread.host, by_thread_ ? thread.tid : thread.pid};
  }

  Summary &summary_;
  std::map<Owner, size_t> latest_; ///< index into Summary::regions
  bool by_thread_ = false;
};

} // namespace ovnitrace
