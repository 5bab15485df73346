// SPDX-License-Identifier: BSD-2-Clause
// EXT_switch: a thread leaves its CPU and another traced one gets it, in one record.
#pragma once

#include "emulator/format/code_kind.h"

#include <ovnitrace/ftrace_codes.h>
#include <ovnitrace/ftrace_record.h>

#include <cstdint>

namespace ovnitrace {

/// Which record says that a thread left its CPU for this reason (enum ftrace_offcpu_reason), not
/// for ever.
inline uint8_t off_cpu_code(uint32_t reason) {
  return ftrace_offcpu_is_runnable(reason) ? FTrace_EVT_task_epilogue : FTrace_EVT_task_sleep;
}

/// Parameter 2 of an EXT_switch, which has two parts: what is said of the thread that left, and of
/// the next one.
struct SwitchParts {
  uint32_t reason = 0;   ///< enum ftrace_offcpu_reason
  uint16_t next = 0;     ///< context
  uint32_t priority = 0; ///< parameter 2 of its task_dispatch

  /// Without the system call.
  constexpr uint32_t par2() const {
    return next | priority << FTRACE_SWITCH_PRIO_SHIFT | reason << FTRACE_REASON_SHIFT;
  }
  static constexpr SwitchParts of(const ftrace_record &record) {
    return {.reason = (record.par2 & FTRACE_REASON_MASK) >> FTRACE_REASON_SHIFT,
            .next = uint16_t(record.par2 & FTRACE_SWITCH_NEXT_MASK),
            .priority = record.par2 >> FTRACE_SWITCH_PRIO_SHIFT & FTRACE_PRIO_MASK};
  }
};

/// Whether an event of a record has this code.
inline bool has_event(const ftrace_record &record, uint16_t code) {
  if (code_of(record.code) != FTrace_EXT_switch)
    return code_of(record.code) == code;
  return code == FTrace_EVT_task_dispatch || code == off_cpu_code(SwitchParts::of(record).reason);
}

} // namespace ovnitrace
