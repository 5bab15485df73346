// SPDX-License-Identifier: BSD-2-Clause
// The families of events: one table.
#pragma once

#include <ovnitrace/ftrace_family.h>

#include <array>
#include <cstdint>
#include <string_view>

namespace ovnitrace {

struct FamilyInfo {
  ftrace_family number;
  std::string_view name;   ///< the manual's
  std::string_view option; ///< --filter chooses it by this name; empty: nothing captures it
  std::string_view other;  ///< another name that --filter takes, may be empty
};

/// By number. Families of one option are captured together.
inline constexpr std::array<FamilyInfo, FTRACE_FAMILIES> kFamilies = {{
    {FTRACE_FAMILY_TRACE, "trace_Events", "", ""},
    {FTRACE_FAMILY_IPOINT, "ipoint", "user", ""},
    {FTRACE_FAMILY_TASK, "task", "sched", ""},
    {FTRACE_FAMILY_INTERRUPT, "interrupt", "irq", ""},
    {FTRACE_FAMILY_CPU, "CPU", "", ""},
    {FTRACE_FAMILY_PRIORITY, "priority", "prio", ""},
    {FTRACE_FAMILY_MUTEX, "mutex", "mutex", "futex"},
    {FTRACE_FAMILY_SIGNAL, "signal", "signal", "signals"},
    {FTRACE_FAMILY_SERVER, "server", "server", "deadline"},
    {FTRACE_FAMILY_USER, "user", "user", ""},
    {FTRACE_FAMILY_DATA, "data", "user", ""},
    {FTRACE_FAMILY_TIMER, "timer", "timer", "timers"},
}};

} // namespace ovnitrace
