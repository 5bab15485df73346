// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/why/locks.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace ovnitrace {

std::vector<Lock> locks_of(const Catalog &catalog, const Explanation &why) {
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, Lock> by_key;
  for (const LockSum &sum : why.locks) {
    const ThreadInfo &thread = catalog.threads[sum.thread];
    Lock &lock = by_key[{thread.host, thread.pid, sum.futex}];
    lock.pid = thread.pid;
    lock.futex = sum.futex;
    lock.inherits |= sum.inherits;
    lock.count += sum.count;
    lock.gave_up += sum.gave_up;
    lock.ns += sum.ns;
    lock.max = std::max(lock.max, sum.max);
    lock.threads.insert(sum.thread);
    lock.parts.push_back(&sum);
  }
  std::vector<Lock> locks;
  for (auto &[key, lock] : by_key)
    locks.push_back(std::move(lock));
  std::stable_sort(locks.begin(), locks.end(),
                   [](const Lock &a, const Lock &b) { return a.ns > b.ns; });
  return locks;
}

} // namespace ovnitrace
