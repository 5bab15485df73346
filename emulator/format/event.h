// SPDX-License-Identifier: BSD-2-Clause
// Defines an event as the replay gets it from every input: its thread and CPU are indices into the
// Catalog.
#pragma once

#include <ovnitrace/ftrace_codes.h>

#include <cstdint>

namespace ovnitrace {

inline constexpr uint32_t kNone = UINT32_MAX;   ///< not a thread, not a CPU
inline constexpr uint16_t kNoFile = UINT16_MAX; ///< Event::file of what concerns the whole trace

/// Returns the kind of an event of an ovni stream: its model, category and value letters. The kind
/// of an FTrace event is its code (0..255), so the two never collide.
constexpr uint32_t mcv(char model, char category, char value) {
  return uint32_t(uint8_t(model)) << 16 | uint32_t(uint8_t(category)) << 8 | uint8_t(value);
}

/// Another thread as an event names it, traced or not.
struct Peer {
  uint32_t tid = kNone;    ///< 0: the idle task; kNone: not known
  uint32_t thread = kNone; ///< index into Catalog::threads; kNone: not traced
};

struct Event {
  /// ns on the clock of the trace, clock offset applied; may be before Catalog::begin.
  uint64_t time = 0;
  uint32_t kind = 0;                   ///< FTrace code (ovnitrace/ftrace_codes.h) or mcv()
  uint32_t thread = kNone;             ///< index into Catalog::threads
  uint32_t cpu = kNone;                ///< index into Catalog::cpus: the CPU that logged it
  uint32_t peer = kNone;               ///< the thread whose tid is in par2 (waker, next), if known
  uint32_t par2 = 0;                   ///< FTrace parameter 2, without the bits of `call`
  uint16_t par1 = 0;                   ///< FTrace parameter 1, as in the file
  uint16_t file = 0;                   ///< index into Catalog::files, for messages
  uint64_t offset = 0;                 ///< of the record in that file, bytes
  const uint8_t *payload = nullptr;    ///< ovni streams: valid until the next event
  uint32_t payload_size = 0;           ///< bytes
  uint32_t file_par2 = 0;              ///< of a plain FTrace file: parameter 2 as in the file
  uint16_t file_par1 = 0;              ///< of a plain FTrace file: parameter 1 as in the file
  uint16_t call = FTRACE_CALL_UNKNOWN; ///< enum ftrace_call of a blocked thread
  bool in_plain_file = false;          ///< a record of a plain FTrace file, not implied by one
  bool by_manual = false; ///< of a plain FTrace file: its parameters mean what the manual says,
                          ///< without the additions of docs/format.md

  /// Returns why a thread left its CPU (FTRACE_OFFCPU_…): of an event that takes it off one, or of
  /// a snapshot.
  uint8_t reason() const { return uint8_t(par2 >> FTRACE_REASON_SHIFT); }
  /// Returns in which context a wakeup was made (FTRACE_WAKER_…).
  uint8_t waker_context() const {
    return uint8_t((par2 & FTRACE_REASON_MASK) >> FTRACE_REASON_SHIFT);
  }
  /// Returns why a woken thread may not run yet: enum ftrace_offcpu_reason; 0: it may.
  uint8_t held_back() const {
    const uint32_t reason = by_manual ? 0 : par2 >> FTRACE_WAKEUP_HELD_SHIFT;
    return ftrace_offcpu_is_throttled(reason) ? uint8_t(reason) : 0;
  }
  /// Returns whether a wakeup is the first one of a new thread.
  bool wakes_new_thread() const { return par2 & FTRACE_WAKEUP_NEW; }
  /// Returns the thread whose tid is in par2: the waker, or the next thread on the CPU.
  Peer named() const { return {par2 & FTRACE_TID_MASK, peer}; }
  /// Returns the next thread on the CPU. A plain file has 0 for the idle task, and for no thread at
  /// all: there it is not known.
  Peer next() const { return in_plain_file && peer == kNone ? Peer() : named(); }
};

/// Returns parameter 2 if it has the meaning of docs/format.md, 0 if it has the manual's.
constexpr uint32_t added_par2(const Event &event) {
  return event.by_manual ? 0 : event.par2;
}

/// Returns whether an event was captured. Blackouts that a reader adds where records are missing,
/// or where a trace has none, were not, and are not counted as events.
constexpr bool was_captured(const Event &event) {
  return (event.kind != FTrace_EVT_blackout_start && event.kind != FTrace_EVT_blackout_end) ||
         (event.par1 != FTRACE_BLACKOUT_MISSING && event.par1 != FTRACE_BLACKOUT_OUTSIDE);
}

/// Returns whether a blackout hides transitions, not only events of other families.
constexpr bool hides_states(const Event &event) {
  return event.cpu != kNone && event.par1 != FTRACE_BLACKOUT_FAMILIES;
}

/// Returns whether something happened. EXT_state only repeats a state, so lists and counts of
/// events omit it.
constexpr bool has_happened(const Event &event) {
  return event.kind != FTrace_EXT_state;
}

} // namespace ovnitrace
