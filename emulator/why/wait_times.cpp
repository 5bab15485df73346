// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/why/wait_times.h"

#include <algorithm>
#include <array>
#include <utility>

namespace ovnitrace {

void WaitTimes::add(uint32_t thread, WaitKind kind, const HolderSums &wait) {
  std::vector<Sum> &sums = by_thread_[thread];
  new_.clear();
  for (const HolderSum &sum : wait.all())
    new_.push_back({sum.holder, kind, sum.ns});
  for (Sum &sum : sums)
    if (const uint32_t at = sum.kind == kind ? wait.index_of({sum.holder}) : kNone; at != kNone)
      sum.ns += std::exchange(new_[at].ns, 0);
  std::erase_if(new_, [](const Sum &sum) { return sum.ns == 0; });
  together_ -= sums.size();
  if (sums.size() + new_.size() <= most_) {
    sums.insert(sums.end(), new_.begin(), new_.end());
  } else if (!new_.empty()) {
    new_.insert(new_.end(), sums.begin(), sums.end());
    drop_shortest(new_);
    sums.assign(new_.begin(), new_.end()); // no room is left over, as it would be after erase()
  }
  together_ += sums.size();
  if (together_ > kMostTogether && most_ == kMost) {
    most_ = kFew;
    for (std::vector<Sum> &of : by_thread_) {
      drop_shortest(of);
      of.shrink_to_fit();
    }
  }
}

void WaitTimes::drop_shortest(std::vector<Sum> &sums) const {
  std::array<uint64_t, kWaitKinds> others = {};
  const auto drop = [&](const Sum &sum) { others[size_t(sum.kind)] += sum.ns; };
  const auto kept = std::partition(
      sums.begin(), sums.end(), [&](const Sum &sum) { return sum.holder != CpuHolders::kOthers; });
  std::for_each(kept, sums.end(), drop);
  sums.erase(kept, sums.end());
  if (sums.size() > most_) {
    const auto end = sums.begin() + ptrdiff_t(most_);
    std::nth_element(sums.begin(), end, sums.end(),
                     [](const Sum &a, const Sum &b) { return a.ns > b.ns; });
    std::for_each(end, sums.end(), drop);
    sums.erase(end, sums.end());
  }
  for (size_t kind = 0; kind < kWaitKinds; kind++)
    if (others[kind])
      sums.push_back({CpuHolders::kOthers, WaitKind(kind), others[kind]});
}

} // namespace ovnitrace
