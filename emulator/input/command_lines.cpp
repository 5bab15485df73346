// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/input/command_lines.h"

#include <algorithm>
#include <map>
#include <utility>

namespace ovnitrace {

namespace {

/// Returns the last command that a process executed in from … until, ns; nullptr if there was no
/// command.
const CommandLine *last_line(const std::vector<CommandLine> &lines, uint32_t pid, uint64_t from,
                             uint64_t until) {
  const auto after = std::lower_bound(lines.begin(), lines.end(), std::pair(pid, until),
                                      [](const CommandLine &line, const auto &at) {
                                        return std::pair(line.pid, line.since_ns) < at;
                                      });
  if (after == lines.begin())
    return nullptr;
  const CommandLine &line = *std::prev(after);
  return line.pid == pid && line.since_ns >= from ? &line : nullptr;
}

} // namespace

std::vector<std::string_view> command_lines(const Catalog &catalog) {
  std::vector<std::string_view> all(catalog.threads.size());
  using Process = std::pair<uint32_t, uint32_t>;   // host, pid
  std::map<Process, std::vector<uint64_t>> births; // of its main threads
  for (const ThreadInfo &thread : catalog.threads)
    if (thread.tid == thread.pid)
      births[{thread.host, thread.pid}].push_back(thread.birth);
  for (auto &[process, times] : births)
    std::sort(times.begin(), times.end());
  for (size_t t = 0; t < all.size(); t++) {
    const ThreadInfo &thread = catalog.threads[t];
    const std::vector<uint64_t> &times = births[{thread.host, thread.pid}];
    const auto next = std::upper_bound(times.begin(), times.end(), thread.birth);
    const uint64_t from = next == times.begin() ? 0 : *std::prev(next);
    const uint64_t until = next == times.end() ? UINT64_MAX : *next;
    const CommandLine *line =
        last_line(catalog.hosts[thread.host].command_lines, thread.pid, from, until);
    if (line)
      all[t] = line->text;
  }
  return all;
}

} // namespace ovnitrace
