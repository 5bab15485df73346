// SPDX-License-Identifier: BSD-2-Clause
// Reads --filter: which families of events are captured.
#pragma once

#include <ovnitrace/ftrace_codes.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace ovnitrace {

/// A set of FTrace families, by their numbers in the manual (the low nibble of a code).
class FamilySet {
public:
  constexpr FamilySet() = default;
  constexpr explicit FamilySet(uint32_t bits) : bits_(bits) {}

  constexpr bool has(uint32_t family) const { return bits_ >> family & 1; }
  constexpr uint32_t bits() const { return bits_; }
  constexpr FamilySet operator&(FamilySet other) const { return FamilySet(bits_ & other.bits_); }
  constexpr FamilySet operator|(FamilySet other) const { return FamilySet(bits_ | other.bits_); }

  bool operator==(const FamilySet &) const = default;

private:
  uint32_t bits_ = 0;
};

/// Returns the scheduler's transitions, and what the traced programs log themselves.
FamilySet default_families();
/// Returns the families that can be captured.
FamilySet families_that_can_be();
/// Returns the families whose events come from tracepoints of the BPF object of families.
FamilySet families_of_tracepoints();
/// Returns the families whose events come from probes in the traced programs.
FamilySet families_of_programs();

/// Returns the families that a BPF program is for, by its name: `prio_mutex_on_sys_exit` is for the
/// families prio and mutex of --filter. Throws Error if the name has no family, because such a
/// program would never be loaded.
FamilySet families_of_program(std::string_view program);

/// Calls `loads` for each option of `wanted`, with the families of that option, and returns the
/// families for which it is true.
FamilySet loadable(FamilySet wanted, const std::function<bool(FamilySet)> &loads);

/// Returns the family by which an event is captured: its code's, but for a deadline that is missed.
uint32_t capturing_family(uint16_t code);

/// Reads a list like `sched,irq`, `+signal`, `all,-irq`, `none`. Items are names or numbers of
/// families. If the first starts with a sign, the list changes the default; otherwise it starts
/// from nothing. Throws Error with status 2 on an unknown name.
FamilySet parse_families(std::string_view list);

/// Returns the names, for the help: "sched, irq, …".
std::string family_names();
/// Returns the names of those in a set, "none" if it is empty.
std::string to_string(FamilySet set);

} // namespace ovnitrace
