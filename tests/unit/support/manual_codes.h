// SPDX-License-Identifier: BSD-2-Clause
// Every event code of the manual's tables, by its name as they spell it.
#pragma once

#include <ovnitrace/ftrace.h>

namespace ovnitrace::test {

struct ManualCode {
  unsigned value;
  const char *name;
  unsigned manual; ///< as its tables print it
};

// clang-format off: a line for each
inline constexpr ManualCode kManualCodes[] = {
#define CODE(name, value)                                                                          \
  { name, #name, value }
    CODE(FTrace_EVT_cycles_per_msec, 0x10),
    CODE(FTrace_EVT_trace_start, 0x20),
    CODE(FTrace_EVT_trace_stop, 0x30),
    CODE(FTrace_EVT_blackout_start, 0x40),
    CODE(FTrace_EVT_blackout_end, 0x50),
    CODE(FTrace_EVT_id, 0x60),
    CODE(FTrace_EVT_numevents, 0x70),
    CODE(FTrace_EVT_ipoint, 0x01),
    CODE(FTrace_EVT_task_create, 0x02),
    CODE(FTrace_EVT_task_activate, 0x12),
    CODE(FTrace_EVT_task_dispatch, 0x22),
    CODE(FTrace_EVT_task_epilogue, 0x32),
    CODE(FTrace_EVT_task_end, 0x42),
    CODE(FTrace_EVT_task_begin_cycle, 0x52),
    CODE(FTrace_EVT_task_end_cycle, 0x62),
    CODE(FTrace_EVT_task_sleep, 0x72),
    CODE(FTrace_EVT_task_schedule, 0x82),
    CODE(FTrace_EVT_task_timer, 0x92),
    CODE(FTrace_EVT_task_disable, 0xA2),
    CODE(FTrace_EVT_task_deadline_miss, 0xB2),
    CODE(FTrace_EVT_task_wcet_violation, 0xC2),
    CODE(FTrace_EVT_interrupt_start, 0x03),
    CODE(FTrace_EVT_interrupt_end, 0x13),
    CODE(FTrace_EVT_interrupt_hit, 0x23),
    CODE(FTrace_EVT_interrupt_count, 0x33),
    CODE(FTrace_EVT_to_real_mode, 0x04),
    CODE(FTrace_EVT_to_protected_mode, 0x14),
    CODE(FTrace_EVT_CLI, 0x24),
    CODE(FTrace_EVT_STI, 0x34),
    CODE(FTrace_EVT_set_priority, 0x05),
    CODE(FTrace_EVT_context_switch, 0x15),
    CODE(FTrace_EVT_inheritance, 0x25),
    CODE(FTrace_EVT_set_mutex_create, 0x06),
    CODE(FTrace_EVT_set_mutex_lock, 0x16),
    CODE(FTrace_EVT_set_mutex_inherit, 0x26),
    CODE(FTrace_EVT_set_mutex_unlock, 0x36), // printed as 0x43, a misprint
    CODE(FTrace_EVT_set_mutex_wait, 0x46),
    CODE(FTrace_EVT_set_mutex_post, 0x56),
    CODE(FTrace_EVT_signal, 0x07),
    CODE(FTrace_EVT_server_create, 0x08),
    CODE(FTrace_EVT_server_replenish, 0x18),
    CODE(FTrace_EVT_server_exhaust, 0x28),
    CODE(FTrace_EVT_server_reclaiming, 0x38),
    CODE(FTrace_EVT_server_remove, 0x48),
    CODE(FTrace_EVT_server_active, 0x58),
    CODE(FTrace_EVT_server_using_rec, 0x68),
    CODE(FTrace_EVT_user_event_0, 0x09),
    CODE(FTrace_EVT_user_event_1, 0x19),
    CODE(FTrace_EVT_user_event_2, 0x29),
    CODE(FTrace_EVT_user_event_3, 0x39),
    CODE(FTrace_EVT_user_event_4, 0x49),
    CODE(FTrace_EVT_user_event_5, 0x59),
    CODE(FTrace_EVT_user_event_6, 0x69),
    CODE(FTrace_EVT_user_event_7, 0x79),
    CODE(FTrace_EVT_user_event_8, 0x89),
    CODE(FTrace_EVT_user_event_9, 0x99),
    CODE(FTrace_EVT_user_event_10, 0xA9),
    CODE(FTrace_EVT_user_event_11, 0xB9),
    CODE(FTrace_EVT_user_event_12, 0xC9),
    CODE(FTrace_EVT_user_event_13, 0xD9),
    CODE(FTrace_EVT_user_event_14, 0xE9),
    CODE(FTrace_EVT_timer_post, 0x0B),
    CODE(FTrace_EVT_timer_delete, 0x1B),
    CODE(FTrace_EVT_timer_wakeup_start, 0x2B),
    CODE(FTrace_EVT_timer_wakeup_end, 0x3B),
    CODE(FTrace_EVT_data_pointer, 0x1A),
    CODE(FTrace_EVT_next_chunk, 0xFF),
#undef CODE
};
// clang-format on

} // namespace ovnitrace::test
