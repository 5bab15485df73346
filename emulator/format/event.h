// SPDX-License-Identifier: BSD-2-Clause
// What the replay consumes: one event, with the thread and the CPU already resolved to dense
// indices of the Catalog, whichever input it came from.
#pragma once

#include <ovnitrace/ftrace_codes.h>

#include <cstdint>

namespace ovnitrace {

inline constexpr uint32_t kNone = UINT32_MAX;   ///< no thread, no CPU
inline constexpr uint16_t kNoFile = UINT16_MAX; ///< as Event::file: of the trace as a whole

/// The kind of an event of an ovni stream: its model, category and value letters. FTrace events
/// have their code (0..255) as their kind, so the two never meet.
constexpr uint32_t mcv(char model, char category, char value) {
  return uint32_t(uint8_t(model)) << 16 | uint32_t(uint8_t(category)) << 8 | uint8_t(value);
}

struct Event {
  uint64_t time =
      0; ///< ns on the clock of the trace, clock offset applied; may be before Catalog::begin
  uint32_t kind = 0;       ///< FTrace code (ovnitrace/ftrace_codes.h) or mcv()
  uint32_t thread = kNone; ///< index into Catalog::threads
  uint32_t cpu = kNone;    ///< index into Catalog::cpus: where it was logged
  uint32_t peer = kNone; ///< index of the thread whose tid is in par2 (waker, next), if it is known
  uint32_t par2 = 0;     ///< FTrace parameter 2, without the bits of `call`
  uint16_t par1 = 0;     ///< FTrace parameter 1, as in the file
  uint16_t file = 0;     ///< index into Catalog::files, for messages
  uint64_t offset = 0;   ///< byte offset of the record in that file
  const uint8_t *payload = nullptr;    ///< ovni streams: payload, valid until the next event
  uint32_t payload_size = 0;           ///< bytes
  uint32_t file_par2 = 0;              ///< of a plain FTrace file: parameter 2 as in the file
  uint16_t file_par1 = 0;              ///< the same for parameter 1
  uint16_t call = FTRACE_CALL_UNKNOWN; ///< enum ftrace_call of a thread that is blocked
  bool in_plain_file = false; ///< a record of a plain FTrace file, and not what one implies
  bool by_manual = false; ///< of a plain FTrace file: nothing that docs/format.md adds to what the
                          ///< manual says of parameters holds of these
};

/// Parameter 2 where the manual has none, or other bits for it than captures: 0 if it is the
/// manual's.
constexpr uint32_t added_par2(const Event &event) {
  return event.by_manual ? 0 : event.par2;
}

/// Whether it was captured. What a reader adds where records are missing is none of the events that
/// are counted.
constexpr bool was_captured(const Event &event) {
  return (event.kind != FTrace_EVT_blackout_start && event.kind != FTrace_EVT_blackout_end) ||
         event.par1 != FTRACE_BLACKOUT_MISSING;
}

/// Whether it is of a blackout that hides transitions, and not only events of other families.
constexpr bool hides_states(const Event &event) {
  return event.cpu != kNone && event.par1 != FTRACE_BLACKOUT_FAMILIES;
}

/// Whether something happened. What only gives a state that held already is no event to those who
/// count or list them.
constexpr bool has_happened(const Event &event) {
  return event.kind != FTrace_EXT_state;
}

} // namespace ovnitrace
