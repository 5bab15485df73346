// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/core/program_threads.h"

#include <algorithm>
#include <map>
#include <set>

namespace ovnitrace {

namespace {

/// The threads that had a tid, one after another.
using ByTid = std::multimap<uint32_t, const ThreadInfo *>;

/// Returns the thread that created another one: the last thread with its parent's tid that was born
/// before.
const ThreadInfo *creator_of(const ThreadInfo &thread, const ByTid &by_tid) {
  const ThreadInfo *creator = nullptr;
  const auto [begin, end] = by_tid.equal_range(thread.parent);
  for (auto at = begin; at != end; ++at)
    if (at->second->birth <= thread.birth && (!creator || creator->birth <= at->second->birth))
      creator = at->second;
  return creator;
}

} // namespace

std::vector<uint32_t> program_pids(const TraceInfo &info, const Catalog &catalog) {
  if (!info.program_pid || info.command.empty())
    return {};
  ByTid by_tid;
  std::vector<const ThreadInfo *> by_birth;
  for (const ThreadInfo &thread : catalog.threads) {
    by_tid.emplace(thread.tid, &thread);
    by_birth.push_back(&thread);
  }
  std::stable_sort(by_birth.begin(), by_birth.end(),
                   [](const ThreadInfo *a, const ThreadInfo *b) { return a->birth < b->birth; });
  std::set<uint32_t> pids;
  for (const ThreadInfo *thread : by_birth) { // a creator comes before what it creates
    const ThreadInfo *creator = thread->parent ? creator_of(*thread, by_tid) : nullptr;
    if (thread->pid == info.program_pid || (creator && pids.count(creator->pid)))
      pids.insert(thread->pid);
  }
  return {pids.begin(), pids.end()};
}

uint32_t first_with_tid(const Catalog &catalog, uint32_t tid, uint32_t host) {
  uint32_t first = kNone;
  for (uint32_t t = 0; t < catalog.threads.size(); t++)
    if (const ThreadInfo &thread = catalog.threads[t];
        thread.tid == tid && (host == kNone || thread.host == host) &&
        (first == kNone || thread.birth < catalog.threads[first].birth))
      first = t;
  return first;
}

std::vector<uint32_t> started_threads(const Catalog &catalog) {
  std::vector<uint32_t> threads;
  for (uint32_t host = 0; host < catalog.hosts.size(); host++)
    if (const uint32_t pid = catalog.hosts[host].program_pid)
      threads.push_back(first_with_tid(catalog, pid, host));
  std::erase(threads, kNone);
  return threads;
}

Cut cut_to_program(const Cut &cut, const TraceInfo &info, const Catalog &catalog) {
  Cut narrowed = cut;
  if (info.all_threads && !cut.chooses_threads())
    narrowed.pids = program_pids(info, catalog);
  return narrowed;
}

} // namespace ovnitrace
