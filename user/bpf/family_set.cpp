// SPDX-License-Identifier: BSD-2-Clause
#include "user/bpf/family_set.h"

#include "emulator/base/comma_list.h"
#include "emulator/base/error.h"
#include "emulator/base/to_number.h"
#include "emulator/format/code_table.h"

#include <fmt/core.h>

#include <optional>

namespace ovnitrace {

namespace {

/// Returns the bits of the families that an option chooses; 0 if none.
uint32_t chosen_by(std::string_view option) {
  uint32_t bits = 0;
  for (const FamilyInfo &family : kFamilies)
    if (!option.empty() && family.option == option)
      bits |= FTRACE_FAMILY_BIT(family.number);
  return bits;
}

/// Returns the bits of all families that can be captured.
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
  const std::optional<uint32_t> number = to_number<uint32_t>(word);
  for (const FamilyInfo &family : kFamilies)
    if (!family.option.empty() &&
        (number ? *number == family.number
                : !word.empty() &&
                      (word == family.option || word == family.name || word == family.other)))
      return chosen_by(family.option);
  return {};
}

} // namespace

FamilySet default_families() {
  return FamilySet(chosen_by("sched") | chosen_by("user"));
}

FamilySet families_that_can_be() {
  return FamilySet(everything());
}

FamilySet families_of_tracepoints() {
  return FamilySet(everything() & ~default_families().bits());
}

FamilySet families_of_programs() {
  return FamilySet(chosen_by("user"));
}

FamilySet families_of_program(std::string_view program) {
  uint32_t bits = 0;
  for (std::string_view rest = program;;) {
    const size_t end = rest.find('_');
    const std::string_view word = rest.substr(0, end);
    if (word == "on" && bits)
      return FamilySet(bits);
    const uint32_t families = chosen_by(word);
    if (!families || end == rest.npos)
      throw Error("the BPF program {} has no family in its name: this ovnitrace is not built right",
                  program);
    bits |= families;
    rest.remove_prefix(end + 1);
  }
}

FamilySet loadable(FamilySet wanted, const std::function<bool(FamilySet)> &loads) {
  FamilySet loaded;
  uint32_t asked = 0;
  for (const FamilyInfo &family : kFamilies) {
    const FamilySet one = wanted & FamilySet(chosen_by(family.option) & ~asked);
    asked |= one.bits();
    if (one.bits() && loads(one))
      loaded = loaded | one;
  }
  return loaded;
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
  for (const std::string &part : comma_list(std::string(list))) {
    std::string_view word = part;
    bool less = word.starts_with('-');
    if (less || word.starts_with('+'))
      word.remove_prefix(1);
    std::optional<uint32_t> families = find(word);
    if (!families)
      throw UsageError("--filter: there is no family '{}'; families are {}, and all and none", word,
                       family_names());
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
