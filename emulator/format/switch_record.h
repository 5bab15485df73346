// SPDX-License-Identifier: BSD-2-Clause
// Packs and unpacks EXT_switch and EXT_wake_switch: in one record a thread leaves its CPU, and
// another traced thread, which it may have woken, gets it.
#pragma once

#include "emulator/format/code_kind.h"

#include <ovnitrace/ftrace_codes.h>
#include <ovnitrace/ftrace_record.h>

#include <algorithm>
#include <cstdint>

namespace ovnitrace {

/// Returns the code of the record with which a thread leaves its CPU for this reason (enum
/// ftrace_offcpu_reason), except at its end.
inline uint8_t off_cpu_code(uint32_t reason) {
  return ftrace_offcpu_is_runnable(reason) ? FTrace_EVT_task_epilogue : FTrace_EVT_task_sleep;
}

/// The contents of parameter 2 of an EXT_switch or EXT_wake_switch.
struct SwitchParts {
  uint32_t reason = 0;   ///< of the thread that leaves: enum ftrace_offcpu_reason
  uint16_t next = 0;     ///< context of the next thread
  uint32_t priority = 0; ///< of the next thread: parameter 2 of its task_dispatch
  uint32_t woken = 0;    ///< EXT_wake_switch: ticks from the wakeup to the switch

  /// Returns parameter 2 of an EXT_switch, without the system call.
  constexpr uint32_t par2() const {
    return next | priority << FTRACE_SWITCH_PRIO_SHIFT | reason << FTRACE_REASON_SHIFT;
  }
  /// Returns whether it fits an EXT_wake_switch whose wakeup was so many ticks before.
  constexpr bool fits_wake(uint64_t ticks) const {
    return next <= FTRACE_WAKE_SWITCH_NEXT_MASK && priority == FTRACE_WAKE_SWITCH_PRIO &&
           ticks <= FTRACE_WAKE_SWITCH_TICKS_MASK;
  }
  /// Returns parameter 2 of that EXT_wake_switch, without the system call.
  constexpr uint32_t wake_par2(uint64_t ticks) const {
    return next | uint32_t(ticks) << FTRACE_WAKE_SWITCH_TICKS_SHIFT | reason << FTRACE_REASON_SHIFT;
  }
  static constexpr SwitchParts of(const ftrace_record &record) {
    const uint32_t par2 = record.par2;
    const uint32_t reason = (par2 & FTRACE_REASON_MASK) >> FTRACE_REASON_SHIFT;
    if ((record.code & FTRACE_CODE_MASK) == FTrace_EXT_wake_switch)
      return {.reason = reason,
              .next = uint16_t(par2 & FTRACE_WAKE_SWITCH_NEXT_MASK),
              .priority = FTRACE_WAKE_SWITCH_PRIO,
              .woken = par2 >> FTRACE_WAKE_SWITCH_TICKS_SHIFT & FTRACE_WAKE_SWITCH_TICKS_MASK};
    return {.reason = reason,
            .next = uint16_t(par2 & FTRACE_SWITCH_NEXT_MASK),
            .priority = par2 >> FTRACE_SWITCH_PRIO_SHIFT & FTRACE_PRIO_MASK};
  }
};

/// Returns whether one of the events of a record has this code.
inline bool has_event(const ftrace_record &record, uint16_t code) {
  const CodeKind kind = kCodeKinds[code_of(record.code)];
  if (!is_several_events(kind))
    return code_of(record.code) == code;
  return code == FTrace_EVT_task_dispatch || code == off_cpu_code(SwitchParts::of(record).reason) ||
         (code == FTrace_EVT_task_activate && kind == CodeKind::three_events);
}

/// Returns the time of the first event of a record. The record itself has the time of the last one.
inline uint64_t first_tsc(const ftrace_record &record) {
  const uint64_t tsc = ftrace_record_tsc(&record);
  if (code_of(record.code) != FTrace_EXT_wake_switch)
    return tsc;
  return tsc - std::min<uint64_t>(tsc, SwitchParts::of(record).woken);
}

} // namespace ovnitrace
