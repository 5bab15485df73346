// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/why/group_waits.h"

#include "emulator/base/human.h"
#include "emulator/base/short_line.h"
#include "emulator/format/cgroup_names.h"
#include "emulator/input/thread_group.h"
#include "emulator/summary/table.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

namespace ovnitrace {

namespace {

constexpr size_t kUsualLines = 10;

/// Returns to which part of the waiting time a wait belongs.
uint64_t &part_of(GroupWaits &waits, WaitKind kind, std::string_view holder) {
  if (is_throttled(kind))
    return waits.throttled;
  if (holder.empty() || waits.group.empty())
    return waits.rest;
  if (holder == kKernelGroup)
    return waits.system;
  return holder == waits.group ? waits.same_group : waits.other_groups;
}

} // namespace

std::vector<GroupWaits> group_waits(const Catalog &catalog, const Explanation &why) {
  std::map<std::pair<uint32_t, std::string_view>, size_t> places; // by host and group
  std::vector<GroupWaits> groups;
  std::vector<size_t> of_thread(catalog.threads.size());
  for (uint32_t t = 0; t < catalog.threads.size(); t++) {
    if (!why.shown[t])
      continue;
    const std::string_view group = group_of(catalog, catalog.threads[t], why.range.to);
    const auto [at, is_new] = places.try_emplace({catalog.threads[t].host, group}, groups.size());
    if (is_new)
      groups.emplace_back().group = group;
    of_thread[t] = at->second;
    GroupWaits &one = groups[at->second];
    one.threads++;
    one.time.add(why.threads[t]);
  }
  std::vector<std::map<std::string_view, uint64_t>> behind(groups.size());
  for (const WaitSum &sum : why.waits) {
    if (!why.shown[sum.thread])
      continue;
    GroupWaits &one = groups[of_thread[sum.thread]];
    const std::string_view holder =
        group_of(catalog, sum.holder, catalog.threads[sum.thread].host, why.range.to);
    uint64_t &part = part_of(one, sum.kind, holder);
    part += sum.ns;
    if (&part == &one.other_groups)
      behind[of_thread[sum.thread]][holder] += sum.ns;
  }
  for (size_t n = 0; n < groups.size(); n++) {
    groups[n].behind.assign(behind[n].begin(), behind[n].end());
    std::stable_sort(groups[n].behind.begin(), groups[n].behind.end(),
                     [](const auto &a, const auto &b) { return a.second > b.second; });
  }
  std::stable_sort(groups.begin(), groups.end(), [](const GroupWaits &a, const GroupWaits &b) {
    return a.time.waiting > b.time.waiting;
  });
  return groups;
}

std::string group_table(const WhyInput &input, const WhyOptions &options) {
  std::vector<Table::Row> rows = {{"CGROUP", "LONGEST\nBEHIND", "THREADS", "RUNNING", "BLOCKED",
                                   "WAITING", "THROTTLED", "SAME\nGROUP", "OTHER\nGROUPS", "SYSTEM",
                                   "REST"}};
  const std::vector<GroupWaits> groups = group_waits(input.catalog, input.why);
  const size_t top = options.top.value_or(kUsualLines);
  for (size_t n = 0; n < groups.size() && (!top || n < top); n++) {
    const GroupWaits &one = groups[n];
    rows.push_back({one.group.empty() ? "not known" : one.group,
                    one.behind.empty() ? "-" : one.behind.front().first, human_count(one.threads),
                    human_duration(one.time.running), human_duration(one.time.blocked),
                    human_duration(one.time.waiting), human_duration(one.throttled),
                    human_duration(one.same_group), human_duration(one.other_groups),
                    human_duration(one.system), human_duration(one.rest)});
  }
  const auto table = [&](const std::vector<size_t> &chosen, size_t left) {
    const auto cells = [&](const Table::Row &row) {
      Table::Row cells;
      for (const size_t column : chosen)
        cells.push_back(row[column]);
      return cells;
    };
    Table table(cells(rows.front()), left);
    for (size_t n = 1; n < rows.size(); n++)
      table.add(cells(rows[n]));
    return table.text(options.columns);
  };
  const std::string whole = table({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 2);
  const std::string_view lines(whole.data(), whole.size() - 1);
  if (columns_of(lines.substr(lines.rfind('\n') + 1)) <= options.columns)
    return whole;
  return table({0, 2, 3, 4, 5}, 1) + '\n' + table({0, 1, 6, 7, 8, 9, 10}, 2);
}

} // namespace ovnitrace
