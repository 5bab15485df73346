// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/why/locks.h"

#include "emulator/why/blocked_at.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace ovnitrace {

std::string longest_wait_at(const Lock &lock, const Stacks &stacks) {
  const std::vector<std::string> functions =
      blocked_at(stacks.of_host(lock.host), lock.max_stack, 1);
  return functions.empty() ? "" : functions.front();
}

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
    lock.host = thread.host;
    if (lock.parts.empty() || sum.max > lock.max) {
      lock.max = sum.max;
      lock.max_stack = sum.max_stack;
    }
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
