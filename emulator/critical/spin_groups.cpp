// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/critical/spin_groups.h"

#include <map>
#include <tuple>
#include <utility>

namespace ovnitrace {

namespace {

constexpr uint32_t kInit = 1; // takes over whose creator has ended: its children have no one else
                              // in common

} // namespace

SpinGroups::SpinGroups(const Catalog &catalog) : group_of_(catalog.threads.size()) {
  const std::vector<ThreadInfo> &threads = catalog.threads;
  using Id = std::pair<uint32_t, uint32_t>; // host, number
  std::map<Id, uint32_t> process_of;        // by tid
  std::map<Id, uint32_t> maker_of;          // of a process: the process that made it
  for (const ThreadInfo &thread : threads)
    process_of[{thread.host, thread.tid}] = thread.pid;
  for (const ThreadInfo &thread : threads)
    if (const auto maker = process_of.find({thread.host, thread.parent});
        thread.tid == thread.pid && maker != process_of.end() && maker->second > kInit)
      maker_of[{thread.host, thread.pid}] = maker->second;
  std::map<std::tuple<uint32_t, bool, uint32_t>, uint32_t> numbers; // host, is a maker, process
  for (uint32_t t = 0; t < threads.size(); t++) {
    const auto maker = maker_of.find({threads[t].host, threads[t].pid});
    const bool has_maker = maker != maker_of.end();
    const auto [at, first] = numbers.try_emplace(
        {threads[t].host, has_maker, has_maker ? maker->second : threads[t].pid}, groups_.size());
    if (first)
      groups_.emplace_back();
    groups_[at->second].push_back(t);
    group_of_[t] = at->second;
  }
}

} // namespace ovnitrace
