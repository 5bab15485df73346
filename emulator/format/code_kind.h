// SPDX-License-Identifier: BSD-2-Clause
// Tells for each FTrace code how a reader treats its records.
#pragma once

#include "emulator/format/code_table.h"

#include <ovnitrace/ftrace_record.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace ovnitrace {

/// How a reader treats a record. Events come first, so one comparison finds them.
enum class CodeKind : uint8_t {
  three_events, ///< EXT_wake_switch: events of the threads of two contexts
  two_events,   ///< EXT_switch: the same
  thread_event, ///< an event of the thread whose context is parameter 1
  maybe_thread, ///< an event whose parameter 1 may be a context (the manual does not say)
  plain_event,  ///< an event of the CPU; parameter 1 is not a context
  thread_state, ///< not an event: the state of the thread of the context
  control,      ///< describes the chunk or a thread
  empty,        ///< an unused slot
  unknown,      ///< not an FTrace code
};

constexpr bool is_event(CodeKind kind) {
  return kind <= CodeKind::plain_event;
}

constexpr bool is_several_events(CodeKind kind) {
  return kind <= CodeKind::two_events;
}

/// Returns how many events a record of this kind contains.
constexpr unsigned event_count(CodeKind kind) {
  return kind == CodeKind::three_events ? 3 : kind == CodeKind::two_events ? 2 : is_event(kind);
}

/// What parameter 2 says of a second thread.
enum class PeerKind : uint8_t { none, tid, context };

namespace detail {

constexpr CodeKind kind_of(const CodeInfo &info) {
  switch (info.record) {
  case Record::empty:
    return CodeKind::empty;
  case Record::two_events:
    return CodeKind::two_events;
  case Record::three_events:
    return CodeKind::three_events;
  case Record::control:
    return CodeKind::control;
  case Record::state:
    return CodeKind::thread_state;
  default:
    return info.par1 == Par1::context         ? CodeKind::thread_event
           : info.par1 == Par1::maybe_context ? CodeKind::maybe_thread
                                              : CodeKind::plain_event;
  }
}

constexpr PeerKind peer_of(const CodeInfo &info) {
  for (const Field &field : info.par2_fields)
    if (field.unit == Unit::peer || field.unit == Unit::peer_context)
      return field.unit == Unit::peer ? PeerKind::tid : PeerKind::context;
  return PeerKind::none;
}

/// Makes an array by code of one value of each row; `missing` for codes without a row.
template <class T, class Of> constexpr std::array<T, 256> by_code(T missing, Of of) {
  std::array<T, 256> all{};
  all.fill(missing);
  for (const CodeInfo &info : kCodes)
    all[std::size_t(info.code)] = of(info);
  return all;
}

} // namespace detail

inline constexpr std::array<CodeKind, 256> kCodeKinds =
    detail::by_code(CodeKind::unknown, detail::kind_of);
inline constexpr std::array<PeerKind, 256> kPeerKinds =
    detail::by_code(PeerKind::none, detail::peer_of);

/// Returns whether records of a code have an ftrace_call: those that block a thread.
constexpr bool has_call(uint8_t code) {
  return code == FTrace_EVT_task_sleep || code == FTrace_EXT_switch ||
         code == FTrace_EXT_wake_switch || code == FTrace_EXT_snapshot || code == FTrace_EXT_state;
}

/// Returns the code of a record as the manual numbers it, without the flag of fast ipoints (bit 15)
/// and the bits of an ftrace_call. Returns 0xE0, which is unknown, if other bits are set.
constexpr uint8_t code_of(uint16_t raw) {
  constexpr uint16_t kFastIpoint = 0x8000;
  const uint8_t code = uint8_t(raw & FTRACE_CODE_MASK);
  return (raw & ~(kFastIpoint | FTRACE_CODE_MASK)) && !has_call(code) ? 0xE0 : code;
}

/// Returns the system call of a record, FTRACE_CALL_UNKNOWN if it has none.
constexpr uint16_t call_of(const ftrace_record &record) {
  if (!has_call(uint8_t(record.code & FTRACE_CODE_MASK)))
    return FTRACE_CALL_UNKNOWN;
  return uint16_t(FTRACE_CALL_OF(record.code, record.par2));
}

/// Returns parameter 2 of a record without the bits of its system call.
constexpr uint32_t par2_of(const ftrace_record &record) {
  const bool has = has_call(uint8_t(record.code & FTRACE_CODE_MASK));
  return has ? record.par2 & ~FTRACE_CALL_PAR2(~0) : record.par2;
}

} // namespace ovnitrace
