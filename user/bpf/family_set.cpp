// SPDX-License-Identifier: BSD-2-Clause
#include "user/bpf/family_set.h"

#include "emulator/base/error.h"

#include <fmt/core.h>
#include <ovnitrace/ftrace_codes.h>

#include <charconv>
#include <optional>

namespace ovnitrace {

namespace {

struct Name {
  std::string_view name;
  std::string_view other; ///< another for the same
  uint32_t families;      ///< a bit each
};

/// Those that can be captured, in the order of the manual's numbers.
constexpr Name kNames[] = {
    {"sched", "task", 1 << 2},
    {"irq", "interrupt", 1 << 3},
    {"prio", "priority", 1 << 5},
    {"mutex", "futex", 1 << 6},
    {"signal", "signals", 1 << 7},
    {"server", "deadline", 1 << 8},
    {"user", "ipoint",
     1 << 9 | 1 << 1 | 1 << 10}, // what programs log themselves: user events, ipoints, data
    {"timer", "timers", 1 << 11},
};

constexpr uint32_t everything() {
  uint32_t bits = 0;
  for (const Name &name : kNames)
    bits |= name.families;
  return bits;
}

std::optional<uint32_t> find(std::string_view word) {
  if (word == "all")
    return everything();
  if (word == "none")
    return 0;
  for (const Name &name : kNames)
    if (word == name.name || word == name.other)
      return name.families;
  uint32_t number = 0;
  auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error == std::errc() && end == word.data() + word.size())
    for (const Name &name : kNames)
      if (number < 16 && name.families >> number & 1)
        return name.families;
  return {};
}

} // namespace

FamilySet default_families() {
  return FamilySet(*find("sched") | *find("user"));
}

FamilySet families_of_tracepoints() {
  return FamilySet(everything() & ~default_families().bits());
}

FamilySet families_of_programs() {
  return FamilySet(*find("user"));
}

uint32_t capturing_family(uint16_t code) {
  if (code == FTrace_EVT_task_deadline_miss)
    return FTrace_filter_server & FTrace_family_mask;
  return code & FTrace_family_mask;
}

FamilySet parse_families(std::string_view list) {
  bool changes = !list.empty() && (list[0] == '+' || list[0] == '-');
  uint32_t bits = changes ? default_families().bits() : 0;
  for (size_t at = 0; at <= list.size();) {
    size_t comma = std::min(list.find(',', at), list.size());
    std::string_view word = list.substr(at, comma - at);
    at = comma + 1;
    bool less = word.starts_with('-');
    if (less || word.starts_with('+'))
      word.remove_prefix(1);
    std::optional<uint32_t> families = find(word);
    if (!families)
      throw Error(
          fmt::format("--filter: there is no family '{}'; families are {}, and all and none", word,
                      family_names()),
          kExitUsage);
    bits = less ? bits & ~*families : bits | *families;
  }
  return FamilySet(bits);
}

std::string family_names() {
  return to_string(FamilySet(everything()));
}

std::string to_string(FamilySet set) {
  std::string names;
  for (const Name &name : kNames)
    if (set.bits() & name.families)
      names += fmt::format("{}{}", names.empty() ? "" : ", ", name.name);
  return names.empty() ? "none" : names;
}

} // namespace ovnitrace
