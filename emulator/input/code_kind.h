// SPDX-License-Identifier: BSD-2-Clause
// How a reader treats each FTrace code.
#pragma once

#include <ovnitrace/ftrace_codes.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace ovnitrace {

/// What a record is to a reader. The events come first, so that one comparison finds them.
enum class CodeKind : uint8_t {
  thread_event, ///< parameter 1 is the context of the thread it is about
  maybe_thread, ///< an event whose parameter 1 may be a context (the manual does not say)
  plain_event,  ///< an event of the CPU; parameter 1 is no context
  thread_state, ///< no event: tells the state that the thread of the context is in
  control,      ///< describes the chunk or a thread
  empty,        ///< an unused slot
  unknown,      ///< no code of ours
};

constexpr bool is_event(CodeKind kind) {
  return kind <= CodeKind::plain_event;
}

namespace detail {

constexpr std::array<CodeKind, 256> make_code_kinds() {
  std::array<CodeKind, 256> kinds{};
  kinds.fill(CodeKind::unknown);
  kinds[FTrace_EVT_empty] = CodeKind::empty;
  for (int code : {FTrace_EVT_cycles_per_msec, FTrace_EVT_id, FTrace_EVT_numevents,
                   FTrace_EXT_process, FTrace_EXT_parent, FTrace_EXT_name_0, FTrace_EXT_name_1,
                   FTrace_EXT_name_2, FTrace_EXT_name_3, FTrace_EXT_chunk, FTrace_EXT_format,
                   FTrace_EXT_session, FTrace_EXT_part, FTrace_EXT_text, FTrace_EVT_next_chunk})
    kinds[std::size_t(code)] = CodeKind::control;
  kinds[FTrace_EXT_state] = CodeKind::thread_state;
  for (int code : {FTrace_EVT_task_create, FTrace_EVT_task_activate, FTrace_EVT_task_dispatch,
                   FTrace_EVT_task_epilogue, FTrace_EVT_task_end, FTrace_EVT_task_begin_cycle,
                   FTrace_EVT_task_end_cycle, FTrace_EVT_task_sleep, FTrace_EVT_task_schedule,
                   FTrace_EVT_task_timer, FTrace_EVT_task_disable, FTrace_EVT_task_deadline_miss,
                   FTrace_EVT_task_wcet_violation, FTrace_EXT_exec, FTrace_EXT_exit,
                   FTrace_EXT_migrate, FTrace_EXT_snapshot})
    kinds[std::size_t(code)] = CodeKind::thread_event;
  for (int code : {FTrace_EVT_set_priority,
                   FTrace_EVT_context_switch,
                   FTrace_EVT_inheritance,
                   FTrace_EVT_mutex_create,
                   FTrace_EVT_mutex_lock,
                   FTrace_EVT_mutex_inherit,
                   FTrace_EVT_mutex_unlock,
                   FTrace_EVT_mutex_unlock_misprint,
                   FTrace_EVT_mutex_wait,
                   FTrace_EVT_mutex_post,
                   FTrace_EVT_signal,
                   FTrace_EVT_timer_post,
                   FTrace_EVT_timer_delete,
                   FTrace_EVT_timer_wakeup_start,
                   FTrace_EVT_timer_wakeup_end,
                   FTrace_EVT_server_create,
                   FTrace_EVT_server_replenish,
                   FTrace_EVT_server_exhaust,
                   FTrace_EVT_server_reclaiming,
                   FTrace_EVT_server_remove,
                   FTrace_EVT_server_active,
                   FTrace_EXT_enable,
                   FTrace_EXT_disable})
    kinds[std::size_t(code)] = CodeKind::maybe_thread;
  for (int code : {FTrace_EVT_trace_start, FTrace_EVT_trace_stop, FTrace_EVT_blackout_start,
                   FTrace_EVT_blackout_end, FTrace_EVT_ipoint, FTrace_EVT_interrupt_start,
                   FTrace_EVT_interrupt_end, FTrace_EVT_interrupt_hit, FTrace_EVT_interrupt_count,
                   FTrace_EVT_to_real_mode, FTrace_EVT_to_protected_mode, FTrace_EVT_CLI,
                   FTrace_EVT_STI, FTrace_EVT_server_using_rec, FTrace_EVT_data_pointer})
    kinds[std::size_t(code)] = CodeKind::plain_event;
  for (int n = 0; n <= 14; n++)
    kinds[std::size_t(n << 4 | FTrace_EVT_user_event_0)] = CodeKind::plain_event;
  // A change of a filter is logged as (filter code, status).
  for (int code = FTrace_filter_trace_Events; code <= FTrace_filter_timer; code++)
    kinds[std::size_t(code)] = CodeKind::plain_event;
  return kinds;
}

} // namespace detail

inline constexpr std::array<CodeKind, 256> kCodeKinds = detail::make_code_kinds();

/// The code of a record as the manual numbers it: the flag of fast ipoints (bit 15) is taken off.
/// Bits that no code has make it 0xE0, which is unknown.
constexpr uint8_t code_of(uint16_t raw) {
  constexpr uint16_t kFastIpoint = 0x8000;
  return (raw & ~(kFastIpoint | FTRACE_CODE_MASK)) ? 0xE0 : uint8_t(raw & FTRACE_CODE_MASK);
}

} // namespace ovnitrace
