// SPDX-License-Identifier: BSD-2-Clause
// Computes the values of PRV type 203.
#pragma once

#include <ovnitrace/ftrace_codes.h>

#include <cstdint>

namespace ovnitrace {

/// The capture did not record calls. Above the values of all calls.
inline constexpr int64_t kBlockedInUnknown = FTRACE_CALLS;

/// Returns the value for an enum ftrace_call: 1 + the number of the system call. 32-bit programs,
/// whose calls have other numbers: 1024 + the number. 0: no call.
constexpr int64_t blocked_in_value(uint16_t call) {
  if (call >= FTRACE_CALL_COMPAT)
    return call;
  if (call == FTRACE_CALL_UNKNOWN)
    return kBlockedInUnknown;
  return call >= FTRACE_CALL_NATIVE ? call - FTRACE_CALL_NATIVE + 1 : 0;
}

} // namespace ovnitrace
