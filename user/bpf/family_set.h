// SPDX-License-Identifier: BSD-2-Clause
// Which families of events are captured, as --filter chooses them.
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

/// The scheduler's transitions, and what the traced programs log themselves.
FamilySet default_families();
/// Those that can be captured.
FamilySet families_that_can_be();
/// Those whose events come from tracepoints of the second BPF object.
FamilySet families_of_tracepoints();
/// Those whose events come from probes in the traced programs.
FamilySet families_of_programs();

/// Those that a BPF program is for, by its name: `prio_mutex_on_sys_exit` is for the families that
/// --filter knows as prio and mutex. Throws Error if it names none: such a program would never be
/// loaded, and nobody would know.
FamilySet families_of_program(std::string_view program);

/// Calls `loads` for each option of `wanted`, with the families of that option, and returns the
/// families for which it is true.
FamilySet loadable(FamilySet wanted, const std::function<bool(FamilySet)> &loads);

/// The family by which an event is captured: its code's, but for a deadline that is missed.
uint32_t capturing_family(uint16_t code);

/// Reads a list like `sched,irq`, `+signal`, `all,-irq`, `none`. Items are names or numbers of
/// families. If the first starts with a sign, the list changes the default; otherwise it starts
/// from nothing. Throws Error with status 2 on an unknown name.
FamilySet parse_families(std::string_view list);

/// The names, for the help: "sched, irq, …".
std::string family_names();
/// The names of those in a set, "none" if it is empty.
std::string to_string(FamilySet set);

} // namespace ovnitrace
