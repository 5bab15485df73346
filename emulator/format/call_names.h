// SPDX-License-Identifier: BSD-2-Clause
// The names of system calls, on the machines that ovnitrace records.
#pragma once

#include <cstdint>
#include <string_view>

namespace ovnitrace {

/// The name of `call`, an enum ftrace_call of a trace of `machine` (as uname names it): "futex",
/// "read (32-bit)" of a 32-bit program, "no system call", and empty where it is not known in which
/// one a thread was. "call 599" where the number has no name or the machine is not known. Static
/// storage.
std::string_view call_name(std::string_view machine, uint16_t call);

} // namespace ovnitrace
