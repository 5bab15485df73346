// SPDX-License-Identifier: BSD-2-Clause
#include "user/bpf/family_set.h"

#include "emulator/base/error.h"
#include "emulator/format/code_table.h"
#include "emulator/format/families.h"

#include <fmt/core.h>

#include <charconv>
#include <optional>

namespace ovnitrace {

namespace {

/// Those that are chosen by one option; 0 if none is.
uint32_t chosen_by(std::string_view option) {
  uint32_t bits = 0;
  for (const FamilyInfo &family : kFamilies)
    if (!option.empty() && family.option == option)
      bits |= FTRACE_FAMILY_BIT(family.number);
  return bits;
}

/// Those that can be captured.
uint32_t everything() {
  uint32_t bits = 0;
  for (const FamilyInfo &family : kFamilies)
    bits |= chosen_by(family.option);
  return bits;
}

std::optional<uint32_t> find(std::string_view word) {
  if (word == "all")
    return everything();
  if (word == "none")
    return 0;
  uint32_t number = FTRACE_FAMILIES;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  const bool is_number = error == std::errc() && end == word.data() + word.size();
  for (const FamilyInfo &family : kFamilies)
    if (!family.option.empty() &&
        (is_number ? number == family.number
                   : !word.empty() &&
                         (word == family.option || word == family.name || word == family.other)))
      return chosen_by(family.option);
  return {};
}

constexpr uint32_t kIrq = FTRACE_FAMILY_BIT(FTRACE_FAMILY_INTERRUPT),
                   kPrio = FTRACE_FAMILY_BIT(FTRACE_FAMILY_PRIORITY),
                   kMutex = FTRACE_FAMILY_BIT(FTRACE_FAMILY_MUTEX),
                   kSignal = FTRACE_FAMILY_BIT(FTRACE_FAMILY_SIGNAL),
                   kServer = FTRACE_FAMILY_BIT(FTRACE_FAMILY_SERVER),
                   kTimer = FTRACE_FAMILY_BIT(FTRACE_FAMILY_TIMER);

/// Which families a program is for, by the tracepoint that it is attached to.
struct Owner {
  std::string_view tracepoint;
  uint32_t families; ///< a bit each
};
constexpr Owner kOwners[] = {
    {"irq_handler_entry", kIrq},
    {"irq_handler_exit", kIrq},
    {"softirq_entry", kIrq},
    {"softirq_exit", kIrq},
    {"local_timer_entry", kIrq},
    {"local_timer_exit", kIrq},
    {"reschedule_entry", kIrq},
    {"reschedule_exit", kIrq},
    {"call_function_entry", kIrq},
    {"call_function_exit", kIrq},
    {"call_function_single_entry", kIrq},
    {"call_function_single_exit", kIrq},
    {"irq_work_entry", kIrq},
    {"irq_work_exit", kIrq},
    {"signal_generate", kSignal},
    {"signal_deliver", kSignal},
    {"sched_pi_setprio", kPrio},
    {"sched_switch", kPrio | kServer},
    {"sys_enter", kMutex},
    {"sys_exit", kPrio | kMutex | kServer},
    {"hrtimer_start", kServer | kTimer},
    {"hrtimer_expire_entry", kServer | kTimer},
    {"hrtimer_expire_exit", kTimer},
    {"hrtimer_cancel", kTimer},
};

} // namespace

FamilySet default_families() {
  return FamilySet(chosen_by("sched") | chosen_by("user"));
}

FamilySet families_of_tracepoints() {
  return FamilySet(everything() & ~default_families().bits());
}

FamilySet families_of_programs() {
  return FamilySet(chosen_by("user"));
}

FamilySet families_of_program(std::string_view tracepoint) {
  for (const Owner &owner : kOwners)
    if (tracepoint == owner.tracepoint)
      return FamilySet(owner.families);
  throw Error(fmt::format("the BPF program for the tracepoint {} belongs to no family: this "
                          "ovnitrace is not built right",
                          tracepoint));
}

uint32_t capturing_family(uint16_t code) {
  for (const CodeInfo &info : kCodes)
    if (info.code == code)
      return uint32_t(info.captured_by);
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
  for (const FamilyInfo &family : kFamilies) {
    const uint32_t later = ~0u << family.number << 1;
    if (set.has(family.number) && !(set.bits() & chosen_by(family.option) & later) &&
        !family.option.empty()) // of an option that chooses several, at the last
      names += fmt::format("{}{}", names.empty() ? "" : ", ", family.option);
  }
  return names.empty() ? "none" : names;
}

} // namespace ovnitrace
