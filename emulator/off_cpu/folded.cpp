// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/off_cpu/folded.h"

#include "emulator/off_cpu/frame_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

namespace ovnitrace {

namespace {

/// Returns a name as one element of a line: a semicolon would end the element.
std::string element(std::string name) {
  std::replace(name.begin(), name.end(), ';', ':');
  return name;
}

std::string named(const std::string &name, uint32_t id, bool with_id) {
  return element(with_id && !name.empty() ? fmt::format("{} ({})", name, id)
                                          : name_or_number(name, id));
}

/// Returns the frames from the root inward: callers before callees.
std::string text_of(const OffCpuTimes &times, const OffCpuTimes::Key &key, bool with_ids) {
  const OffCpuTimes::Owner &owner = times.owners()[key.owner];
  const ThreadInfo &thread = times.catalog().threads[owner.thread];
  std::string text =
      named(owner.process, thread.pid, with_ids) + ";" + named(owner.name, thread.tid, with_ids);
  const StackTable &table = times.stacks(key.host);
  const auto frames = table.frames(key.stack);
  for (size_t n = frames.size(); n-- > 0;)
    text += ";" + element(frame_name(table, frames[n]));
  const std::string innermost = times.innermost(key);
  return innermost.empty() ? text : text + ";" + innermost;
}

} // namespace

void each_folded(const OffCpuTimes &times, bool with_ids,
                 const std::function<void(const std::string &, uint64_t)> &take) {
  std::map<std::string, uint64_t> sums; // several sums can have one text
  for (const auto &[key, sum] : times.sums())
    sums[text_of(times, key, with_ids)] += sum.ns;
  for (const auto &[text, ns] : sums)
    take(text, ns);
}

} // namespace ovnitrace
