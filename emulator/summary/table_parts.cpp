// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/summary/table_parts.h"

#include "emulator/base/human.h"
#include "emulator/base/short_line.h"
#include "emulator/summary/names.h"

#include <fmt/format.h>

#include <algorithm>

namespace ovnitrace {

namespace {

std::string number_or_dash(uint32_t number) {
  return number ? std::to_string(number) : "-";
}

} // namespace

bool has_cpu_shares(const Catalog &catalog, const Summary &summary) {
  return std::all_of(catalog.hosts.begin(), catalog.hosts.end(),
                     [](const HostInfo &host) { return host.all_threads; }) &&
         std::all_of(summary.shown.begin(), summary.shown.end(), [](uint8_t is) { return is; });
}

void TableParts::put(const char *title, const Table &table) {
  if (table.empty())
    return;
  text_ += '\n';
  if (*title)
    text_ += wrapped(std::string(title) + ':', options_.columns) + '\n';
  text_ += table.text(options_.columns);
}

std::vector<TableParts::Line> TableParts::thread_lines() const {
  std::vector<Line> lines;
  for (uint32_t t : sorted_threads(summary_, options_.sort))
    lines.push_back({thread_text(t), number_or_dash(catalog_.threads[t].pid), summary_.threads[t]});
  return lines;
}

std::vector<TableParts::Line> TableParts::lines_of(const std::vector<ThreadGroup> &groups) const {
  std::vector<Line> lines;
  for (const ThreadGroup &group : groups)
    lines.push_back({group.pid ? name_and_number(short_name(group.name), "process", group.pid)
                     : group.name.empty() ? "-"
                                          : short_name(group.name),
                     human_count(group.threads), group.sum});
  return lines;
}

std::string TableParts::thread_text(uint32_t thread) const {
  return thread_label(catalog_.threads[thread]);
}

std::string TableParts::cpu_text(size_t cpu) const {
  const std::string name = fmt::format("CPU {}", catalog_.cpus[cpu].index);
  return catalog_.hosts.size() > 1
             ? short_name(catalog_.hosts[catalog_.cpus[cpu].host].name) + " " + name
             : name;
}

std::string TableParts::share_text(const ThreadSummary &sum) const {
  return human_percent(sum.running(), has_cpu_shares(catalog_, summary_)
                                          ? summary_.recorded * cpu_count(catalog_)
                                          : sum.recorded());
}

std::string TableParts::others(size_t count) const {
  return human_count(count, "other", "others");
}

std::string TableParts::at_text(uint64_t ns) const {
  const uint64_t since = ns - catalog_.begin;
  return fmt::format("{}.{:09}", since / 1000000000, since % 1000000000);
}

Table::Row TableParts::span_row(std::string name, const Spans &spans) const {
  return {std::move(name), human_count(spans.count), human_duration(spans.time),
          human_duration(spans.max), at_text(spans.max_at)};
}

} // namespace ovnitrace
