// SPDX-License-Identifier: BSD-2-Clause
// How many events records stand for.
#pragma once

#include "emulator/format/code_kind.h"

#include <ovnitrace/ftrace_record.h>

#include <cstdint>

namespace ovnitrace {

/// What is missing when this record is: one event; what a blackout's end tells (not where each CPU
/// tells the same loss of the machine); nothing for what describes the trace.
inline uint64_t events_of(const ftrace_record &record) {
  const uint8_t code = code_of(record.code);
  if (code == FTrace_EVT_blackout_end)
    return record.par1 == FTRACE_BLACKOUT_SOMEWHERE ? 0 : record.par2;
  const bool of_the_trace = (code & FTrace_family_mask) == 0;
  return is_event(kCodeKinds[code]) && !of_the_trace;
}

} // namespace ovnitrace
