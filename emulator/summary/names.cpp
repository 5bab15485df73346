// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/summary/names.h"

#include "emulator/base/human.h"
#include "emulator/base/short_line.h"

#include <algorithm>
#include <fmt/format.h>

namespace ovnitrace {

std::string upper_case(std::string_view text) {
  std::string upper(text);
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? char(c - 'a' + 'A') : c; });
  return upper;
}

std::string state_head(ThreadState state) {
  const StateInfo &info = kStateTable[size_t(state)];
  std::string head(info.term);
  if (info.term != info.name)
    head += fmt::format("\n({})", info.name);
  return upper_case(head);
}

std::string short_name(const std::string &name) {
  return short_line(name, kMaxName);
}

std::string name_or_none(const std::string &name) {
  return name.empty() ? "threads without a name" : short_name(name);
}

std::string thread_label(const ThreadInfo &thread) {
  return name_and_number(short_name(thread.name), "thread", thread.tid);
}

std::string thread_label(const ThreadInfo &thread, uint64_t time) {
  return name_and_number(thread.name_at(time), "thread", thread.tid);
}

std::string lost_text(uint64_t lost, bool more, const std::string &counted) {
  return !more ? counted : lost ? "not known, at least " + counted : "not known";
}

std::string idle_state_name(const Catalog &catalog, uint32_t cpu, uint32_t state) {
  const auto &names = catalog.hosts[catalog.cpus[cpu].host].idle_states;
  return state < names.size() && !names[state].empty() ? names[state]
                                                       : fmt::format("state {}", state);
}

std::string peer_name(const Catalog &catalog, const PairCount &pair) {
  if (pair.peer != kNone)
    return catalog.threads[pair.peer].name;
  return pair.name == kNone
             ? ""
             : catalog.hosts[catalog.threads[pair.thread].host].peers[pair.name].name;
}

} // namespace ovnitrace
