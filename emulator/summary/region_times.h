// SPDX-License-Identifier: BSD-2-Clause
// The regions of --control, one after the other, and what their threads did in them.
#pragma once

#include "emulator/core/system.h"
#include "emulator/slices/slice.h"
#include "emulator/summary/summary.h"

#include <map>
#include <utility>

namespace ovnitrace {

/// Fills Summary::regions from the stream of slices.
class RegionTimes {
public:
  explicit RegionTimes(Summary &summary) : summary_(summary) {}

  void event(const Event &event, const System &system);
  /// Slices of a thread come when they end: those that the stop of a region ends just after it.
  void slice(const Slice &slice, const Catalog &catalog);

private:
  /// Of a process or, if a region is a thread's, of a thread.
  using Owner = std::pair<uint32_t, uint32_t>; ///< host, pid or tid
  Owner owner_of(const ThreadInfo &thread) const {
    return {thread.host, by_thread_ ? thread.tid : thread.pid};
  }

  Summary &summary_;
  std::map<Owner, size_t> latest_; ///< index into Summary::regions
  bool by_thread_ = false;
};

} // namespace ovnitrace
