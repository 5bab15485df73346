// SPDX-License-Identifier: BSD-2-Clause
// Counts the events that records stand for.
#pragma once

#include "emulator/format/code_kind.h"

#include <ovnitrace/ftrace_record.h>

#include <cstdint>
#include <span>

namespace ovnitrace {

/// Returns how many events are missing if this record is.
///
/// For an event, this is 1. For the end of a blackout, it is the blackout's count, or 0 if each CPU
/// has the same blackout (a loss of the machine). For records that describe the trace or the next
/// record, it is 0.
inline uint64_t events_of(const ftrace_record &record) {
  const uint8_t code = code_of(record.code);
  if (code == FTrace_EVT_blackout_end)
    return record.par1 == FTRACE_BLACKOUT_SOMEWHERE ? 0 : record.par2;
  const bool describes = (code & FTrace_family_mask) == 0 || code == FTrace_EXT_device;
  return describes ? 0 : event_count(kCodeKinds[code]);
}

/// What is missing with records that are not in the trace.
struct EventLoss {
  uint64_t records = 0;
  uint64_t counted = 0; ///< events as `info` and `dump` count them
  uint64_t logged = 0;  ///< of them, those that the kernel or the program logged
  uint64_t lost = 0;    ///< those, and what the blackouts among the records say was lost before

  void add(std::span<const ftrace_record> missing) {
    records += missing.size();
    for (const ftrace_record &record : missing) {
      const uint8_t code = code_of(record.code);
      const bool is_blackout_end = code == FTrace_EVT_blackout_end;
      const uint64_t events = events_of(record);
      counted += event_count(kCodeKinds[code]);
      logged += is_blackout_end ? 0 : events;
      lost += is_blackout_end && record.par1 == FTRACE_BLACKOUT_FORGOTTEN ? 0 : events;
    }
  }
  EventLoss &operator+=(const EventLoss &other) {
    records += other.records;
    counted += other.counted;
    logged += other.logged;
    lost += other.lost;
    return *this;
  }
};

} // namespace ovnitrace
