// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/why/latency_shares.h"

#include <algorithm>
#include <cmath>

namespace ovnitrace {

void LatencyShares::advance(uint64_t time) {
  const uint64_t to = std::clamp(time, range_.from, range_.to), from = std::max(now_, range_.from);
  if (running_ && to > from) {
    whole_ += double(to - from) / double(running_);
    covered_ += to - from;
  }
  now_ = std::max(now_, to);
}

void LatencyShares::change(uint32_t thread, const StateChange &change, uint64_t time) {
  const bool runs = change.to == ThreadState::Running;
  Share &share = threads_[thread];
  if (share.runs == runs)
    return;
  advance(time);
  if (runs)
    share.since = whole_;
  else
    share.ns += whole_ - share.since;
  running_ += runs ? 1 : -1;
  share.runs = runs;
}

std::vector<uint64_t> LatencyShares::finish() {
  advance(range_.to);
  std::vector<uint64_t> all;
  for (const Share &share : threads_)
    all.push_back(uint64_t(std::llround(share.ns + (share.runs ? whole_ - share.since : 0))));
  return all;
}

} // namespace ovnitrace
