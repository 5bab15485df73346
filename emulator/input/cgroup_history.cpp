// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/input/cgroup_history.h"

#include <algorithm>

namespace ovnitrace {

void CgroupHistory::add(const SinceCgroup &known) {
  const auto next =
      std::upper_bound(all_.begin(), all_.end(), known.since,
                       [](uint64_t time, const SinceCgroup &other) { return time < other.since; });
  const bool is_known = next != all_.begin() && *std::prev(next) == known;
  if (!is_known && all_.size() < kMost)
    all_.insert(next, known);
}

void CgroupHistory::join(const CgroupHistory &other) {
  for (const SinceCgroup &known : other.all_)
    add(known);
}

std::vector<SinceCgroup> CgroupHistory::changes() const {
  std::vector<SinceCgroup> changes;
  for (const SinceCgroup &known : all_)
    if (changes.empty() || changes.back().cgroup != known.cgroup)
      changes.push_back(known);
  return changes;
}

} // namespace ovnitrace
