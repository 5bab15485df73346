// SPDX-License-Identifier: BSD-2-Clause
// Gives the name of a system call, by the machine that was traced.
#pragma once

#include <cstdint>
#include <string_view>

namespace ovnitrace {

/// Returns the name of `call`, an enum ftrace_call of a trace of `machine` (as uname names it).
/// Examples are "futex", "read (32-bit)" for a 32-bit program, "no system call", and "call 599" for
/// a number without a name. Returns "" where the trace does not say in which call a thread was. The
/// text has static storage.
std::string_view call_name(std::string_view machine, uint16_t call);

} // namespace ovnitrace
