// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/why/open_wait.h"

#include <algorithm>

namespace ovnitrace {

void OpenWait::add(uint32_t cpu, const HolderSums &sums) {
  uint64_t whole = 0;
  for (const HolderSum &sum : sums.all())
    whole += sum.ns;
  const auto place =
      std::find_if(cpus_.begin(), cpus_.end(), [&](const auto &one) { return one.first == cpu; });
  if (place == cpus_.end())
    cpus_.emplace_back(cpu, whole);
  else
    place->second += whole;
  std::vector<bool> known(parts_.empty() ? 0 : sums.all().size());
  for (Part &part : parts_)
    if (const uint32_t at = sums.index_of(part.sum.key()); at != kNone && part.cpu == cpu) {
      part.sum.ns += sums.all()[at].ns;
      known[at] = true;
    }
  for (size_t n = 0; n < sums.all().size(); n++)
    if (sums.all()[n].holder == CpuHolders::kOthers)
      more_ = true;
    else if (known.empty() || !known[n])
      parts_.push_back({cpu, sums.all()[n]});
  if (parts_.size() <= LongWait::kMostParts)
    return;
  more_ = true;
  const auto end = parts_.begin() + LongWait::kMostParts;
  std::nth_element(parts_.begin(), end, parts_.end(),
                   [](const Part &a, const Part &b) { return a.sum.ns > b.sum.ns; });
  parts_.erase(end, parts_.end());
}

void OpenWait::describe(LongWait &wait, const CpuHolders &holders) const {
  for (const auto &[cpu, ns] : cpus_)
    if (ns > wait.cpu_ns) {
      wait.cpu = cpu;
      wait.cpu_ns = ns;
    }
  wait.moved = cpus_.size() > 1;
  wait.more_holders = more_;
  for (const Part &part : parts_)
    wait.holders.push_back({holders.holder(part.sum.holder), part.cpu, part.sum.ns});
  std::stable_sort(wait.holders.begin(), wait.holders.end(), LongWait::is_larger);
}

void OpenWait::clear() {
  if (parts_.size() > 8) // the next wait hardly has as many
    parts_ = {};
  parts_.clear();
  cpus_.clear();
  more_ = false;
}

} // namespace ovnitrace
