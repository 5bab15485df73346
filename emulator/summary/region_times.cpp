// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/summary/region_times.h"

#include <ovnitrace/control.h>
#include <ovnitrace/ftrace_codes.h>

namespace ovnitrace {

namespace {

constexpr size_t kMostRegions = 1 << 20; ///< that are listed: memory is bounded

} // namespace

void RegionTimes::event(const Event &event, const System &system) {
  const uint32_t what = event.par2 >> FTRACE_REGION_EVENT_SHIFT & 3;
  by_thread_ = event.par2 & FTRACE_REGION_THREAD;
  const Owner owner = owner_of(system.catalog().threads[event.thread]);
  const uint8_t type = uint8_t(event.par2 >> FTRACE_REGION_TYPE_SHIFT);
  if (what == CONTROL_START && event.par2 & FTRACE_REGION_AGAIN) {
    if (const auto at = latest_.find(owner); at != latest_.end())
      summary_.regions[at->second].repeated_starts++;
  } else if (what == CONTROL_START && summary_.regions.size() < kMostRegions) {
    latest_[owner] = summary_.regions.size();
    RegionSummary &region = summary_.regions.emplace_back();
    region.thread = event.thread;
    region.of_thread = by_thread_;
    region.start = event.time;
    region.chain = event.par2 >> FTRACE_REGION_CHAIN_SHIFT & 0xff;
    region.started_by = type;
    region.bcast = event.par2 & FTRACE_REGION_BCAST;
    region.by_other = event.par2 & FTRACE_REGION_OTHER;
  } else if (what == CONTROL_STOP && latest_.contains(owner)) {
    RegionSummary &region = summary_.regions[latest_[owner]];
    region.stop = event.time;
    region.stopped_by = type;
  }
}

void RegionTimes::slice(const Slice &slice, const Catalog &catalog) {
  const auto at = latest_.find(owner_of(catalog.threads[slice.thread]));
  if (at == latest_.end())
    return;
  RegionSummary &region = summary_.regions[at->second];
  if (slice.state == ThreadState::Running)
    region.running += slice.length();
  else if (is_waiting(slice.state))
    region.waiting += slice.length();
}

} // namespace ovnitrace
