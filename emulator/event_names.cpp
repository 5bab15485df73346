// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/event_names.h"

#include <ovnitrace/ftrace_codes.h>

#include <array>

namespace ovnitrace {

namespace {

struct CodeName {
  int code;
  std::string_view name;
};

constexpr CodeName kNames[] = {
    {FTrace_EVT_empty, "empty"},
    {FTrace_EVT_cycles_per_msec, "cycles_per_msec"},
    {FTrace_EVT_trace_start, "trace_start"},
    {FTrace_EVT_trace_stop, "trace_stop"},
    {FTrace_EVT_blackout_start, "blackout_start"},
    {FTrace_EVT_blackout_end, "blackout_end"},
    {FTrace_EVT_id, "id"},
    {FTrace_EVT_numevents, "numevents"},
    {FTrace_EVT_ipoint, "ipoint"},
    {FTrace_EVT_task_create, "task_create"},
    {FTrace_EVT_task_activate, "task_activate"},
    {FTrace_EVT_task_dispatch, "task_dispatch"},
    {FTrace_EVT_task_epilogue, "task_epilogue"},
    {FTrace_EVT_task_end, "task_end"},
    {FTrace_EVT_task_begin_cycle, "task_begin_cycle"},
    {FTrace_EVT_task_end_cycle, "task_end_cycle"},
    {FTrace_EVT_task_sleep, "task_sleep"},
    {FTrace_EVT_task_schedule, "task_schedule"},
    {FTrace_EVT_task_timer, "task_timer"},
    {FTrace_EVT_task_disable, "task_disable"},
    {FTrace_EVT_task_deadline_miss, "task_deadline_miss"},
    {FTrace_EVT_task_wcet_violation, "task_wcet_violation"},
    {FTrace_EVT_interrupt_start, "interrupt_start"},
    {FTrace_EVT_interrupt_end, "interrupt_end"},
    {FTrace_EVT_interrupt_hit, "interrupt_hit"},
    {FTrace_EVT_interrupt_count, "interrupt_count"},
    {FTrace_EVT_to_real_mode, "to_real_mode"},
    {FTrace_EVT_to_protected_mode, "to_protected_mode"},
    {FTrace_EVT_CLI, "CLI"},
    {FTrace_EVT_STI, "STI"},
    {FTrace_EVT_set_priority, "set_priority"},
    {FTrace_EVT_context_switch, "context_switch"},
    {FTrace_EVT_inheritance, "inheritance"},
    {FTrace_EVT_mutex_create, "mutex_create"},
    {FTrace_EVT_mutex_lock, "mutex_lock"},
    {FTrace_EVT_mutex_inherit, "mutex_inherit"},
    {FTrace_EVT_mutex_unlock, "mutex_unlock"},
    {FTrace_EVT_mutex_unlock_misprint, "mutex_unlock"},
    {FTrace_EVT_mutex_wait, "mutex_wait"},
    {FTrace_EVT_mutex_post, "mutex_post"},
    {FTrace_EVT_signal, "signal"},
    {FTrace_EVT_server_create, "server_create"},
    {FTrace_EVT_server_replenish, "server_replenish"},
    {FTrace_EVT_server_exhaust, "server_exhaust"},
    {FTrace_EVT_server_reclaiming, "server_reclaiming"},
    {FTrace_EVT_server_remove, "server_remove"},
    {FTrace_EVT_server_active, "server_active"},
    {FTrace_EVT_server_using_rec, "server_using_rec"},
    {FTrace_EVT_user_event_0, "user_event_0"},
    {FTrace_EVT_user_event_1, "user_event_1"},
    {FTrace_EVT_user_event_2, "user_event_2"},
    {FTrace_EVT_user_event_3, "user_event_3"},
    {FTrace_EVT_user_event_4, "user_event_4"},
    {FTrace_EVT_user_event_5, "user_event_5"},
    {FTrace_EVT_user_event_6, "user_event_6"},
    {FTrace_EVT_user_event_7, "user_event_7"},
    {FTrace_EVT_user_event_8, "user_event_8"},
    {FTrace_EVT_user_event_9, "user_event_9"},
    {FTrace_EVT_user_event_10, "user_event_10"},
    {FTrace_EVT_user_event_11, "user_event_11"},
    {FTrace_EVT_user_event_12, "user_event_12"},
    {FTrace_EVT_user_event_13, "user_event_13"},
    {FTrace_EVT_user_event_14, "user_event_14"},
    {FTrace_EVT_data_pointer, "data_pointer"},
    {FTrace_EVT_timer_post, "timer_post"},
    {FTrace_EVT_timer_delete, "timer_delete"},
    {FTrace_EVT_timer_wakeup_start, "timer_wakeup_start"},
    {FTrace_EVT_timer_wakeup_end, "timer_wakeup_end"},
    {FTrace_EXT_process, "EXT_process"},
    {FTrace_EXT_name_0, "EXT_name_0"},
    {FTrace_EXT_name_1, "EXT_name_1"},
    {FTrace_EXT_name_2, "EXT_name_2"},
    {FTrace_EXT_name_3, "EXT_name_3"},
    {FTrace_EXT_exec, "EXT_exec"},
    {FTrace_EXT_exit, "EXT_exit"},
    {FTrace_EXT_migrate, "EXT_migrate"},
    {FTrace_EXT_snapshot, "EXT_snapshot"},
    {FTrace_EXT_parent, "EXT_parent"},
    {FTrace_EXT_state, "EXT_state"},
    {FTrace_EXT_chunk, "EXT_chunk"},
    {FTrace_EXT_format, "EXT_format"},
    {FTrace_EXT_session, "EXT_session"},
    {FTrace_EXT_part, "EXT_part"},
    {FTrace_EXT_text, "EXT_text"},
    {FTrace_EXT_enable, "EXT_enable"},
    {FTrace_EXT_disable, "EXT_disable"},
    {FTrace_EVT_next_chunk, "next_chunk"},
    {FTrace_filter_trace_Events, "filter_trace_Events"},
    {FTrace_filter_ipoint, "filter_ipoint"},
    {FTrace_filter_task, "filter_task"},
    {FTrace_filter_interrupt, "filter_interrupt"},
    {FTrace_filter_CPU, "filter_CPU"},
    {FTrace_filter_priority, "filter_priority"},
    {FTrace_filter_mutex, "filter_mutex"},
    {FTrace_filter_signal, "filter_signal"},
    {FTrace_filter_server, "filter_server"},
    {FTrace_filter_user, "filter_user"},
    {FTrace_filter_data, "filter_data"},
    {FTrace_filter_timer, "filter_timer"},
};

constexpr std::array<std::string_view, 256> make_table() {
  std::array<std::string_view, 256> table;
  table.fill("unknown");
  for (const CodeName &entry : kNames)
    table[size_t(entry.code)] = entry.name;
  return table;
}

constexpr std::array<std::string_view, 256> kTable = make_table();

} // namespace

std::string_view event_name(uint32_t code) {
  return code < kTable.size() ? kTable[code] : "unknown";
}

} // namespace ovnitrace
