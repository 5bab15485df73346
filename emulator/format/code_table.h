// SPDX-License-Identifier: BSD-2-Clause
// Describes every family and every code of FTrace, once. Names, kinds, the details of `dump`, the
// rules of S.Ha.R.K. files and the tables of docs/format.md are derived from this table.
#pragma once

#include "emulator/format/fields.h"
#include "emulator/format/shark_rule.h"

#include <ovnitrace/ftrace_codes.h>

#include <cstdint>
#include <span>
#include <string_view>

namespace ovnitrace {

struct FamilyInfo {
  ftrace_family number;
  std::string_view name;   ///< as in the manual
  std::string_view option; ///< name for --filter; empty: never captured
  std::string_view other;  ///< another name for --filter, may be empty
};

/// The families by number. Families with the same option are captured together. Families C and D,
/// the extensions about threads and chunks, are always captured and not listed.
inline constexpr FamilyInfo kFamilies[] = {
    {FTRACE_FAMILY_TRACE, "trace_Events", "", ""},
    {FTRACE_FAMILY_IPOINT, "ipoint", "user", ""},
    {FTRACE_FAMILY_TASK, "task", "sched", ""},
    {FTRACE_FAMILY_INTERRUPT, "interrupt", "irq", ""},
    {FTRACE_FAMILY_CPU, "CPU", "", ""},
    {FTRACE_FAMILY_PRIORITY, "priority", "prio", ""},
    {FTRACE_FAMILY_MUTEX, "mutex", "mutex", "futex"},
    {FTRACE_FAMILY_SIGNAL, "signal", "signal", "signals"},
    {FTRACE_FAMILY_SERVER, "server", "server", "deadline"},
    {FTRACE_FAMILY_USER, "user", "user", ""},
    {FTRACE_FAMILY_DATA, "data", "user", ""},
    {FTRACE_FAMILY_TIMER, "timer", "timer", "timers"},
    {FTRACE_FAMILY_POWER, "power", "power", ""},
};

/// The families of the manual, which a program can filter (FTrace_set_filter).
inline constexpr std::span<const FamilyInfo> kManualFamilies =
    std::span(kFamilies).first(FTRACE_FAMILIES);

/// Returns the family of a number, nullptr if no family has it.
constexpr const FamilyInfo *find_family(uint32_t number) {
  for (const FamilyInfo &family : kFamilies)
    if (family.number == number)
      return &family;
  return nullptr;
}

/// What a record is.
enum class Record : uint8_t {
  empty,        ///< an unused slot
  event,        ///< something happened
  control,      ///< describes the chunk or a thread
  state,        ///< no event: the state that a thread is in
  two_events,   ///< two events in one record
  three_events, ///< three events in one record
};

/// What parameter 1 is.
enum class Par1 : uint8_t {
  nothing,
  context,       ///< of the thread of the record
  maybe_context, ///< the same, or not a context: the manual does not say
  number,        ///< see CodeInfo::par1_fields
};

struct CodeInfo {
  int code;
  std::string_view name;
  Record record = Record::event;
  Par1 par1 = Par1::nothing;
  Fields par1_fields = {};                     ///< if it is a number
  Fields par2_fields = {};                     ///< as captured
  std::string_view manual1 = {}, manual2 = {}; ///< names of the parameters in the manual
  shark::RecordRule shark = {};
  std::string_view what = {};    ///< the text in docs/format.md
  int captured_by = code & 0x0f; ///< the family whose --filter option captures it
};

namespace fields::code_rows {

using enum Par1;
using enum Record;
using shark::About, shark::Meaning, shark::Mention;

inline constexpr shark::RecordRule kNobody{About::nobody, Meaning::nothing};
inline constexpr shark::RecordRule kRunning{About::running, Meaning::nothing};
inline constexpr shark::RecordRule kAnyContext{About::any_context, Meaning::nothing};
inline constexpr shark::RecordRule kFilter{About::nobody, Meaning::filter};

/// Returns the row of a user event. Both parameters belong to the program.
constexpr CodeInfo user_event(int code, std::string_view name) {
  return {.code = code,
          .name = name,
          .par1 = number,
          .par1_fields = kFree1,
          .par2_fields = kFree2,
          .shark = kRunning,
          .what = "the program logged it"};
}

/// Returns the row of a call of FTrace_set_filter for a family.
constexpr CodeInfo filter(int code, std::string_view name) {
  return {.code = code,
          .name = name,
          .par1 = number,
          .par1_fields = kStatus,
          .manual1 = "status",
          .shark = kFilter,
          .what = "`FTrace_set_filter` was called: 1 not logged from here on, 0 logged again"};
}

// The columns are the members of CodeInfo, in order.
// clang-format off
inline constexpr CodeInfo kRows[] = {
    // family 0: the trace
    {FTrace_EVT_empty, "empty", empty, nothing, {}, {}, "", "", {}, "an unused slot, skipped"},
    {FTrace_EVT_cycles_per_msec, "cycles_per_msec", control, nothing, {}, kRate, "",
     "ticks_per_ms", {}, "rate of the clock; the first record of a chunk"},
    {FTrace_EVT_trace_start, "trace_start", event, nothing, {}, kTicksPerMs, "context", "ticks_per_ms",
     {About::context, Meaning::gets_cpu, Mention::wakes},
     "the capture starts; what is before it is the state at time 0"},
    {FTrace_EVT_trace_stop, "trace_stop", event, nothing, {}, {}, "", "", kNobody,
     "the capture ends; the last record of a file"},
    {FTrace_EVT_blackout_start, "blackout_start", event, number, kBlackout, {}, "", "",
     {About::nobody, Meaning::blackout}, "events are lost from here on"},
    {FTrace_EVT_blackout_end, "blackout_end", event, number, kBlackout, kLost, "", "",
     {About::nobody, Meaning::blackout}, "no more events are lost; how many were"},
    {FTrace_EVT_id, "id", control, context, {}, kTid, "context", "pid",
     {About::context, Meaning::not_an_event, Mention::names}, "the context is this thread"},
    {FTrace_EVT_numevents, "numevents", control, nothing, {}, kRecords, "", "", {},
     "records of the chunk, this one included"},
    // family 1: ipoints
    {FTrace_EVT_ipoint, "ipoint", event, number, kFree1, kFree2, "number", "", kRunning,
     "the program passed a place in its code"},
    // family 2: tasks
    {FTrace_EVT_task_create, "task_create", event, context, {}, kTid, "context", "pid",
     {About::context, Meaning::nothing, Mention::creates},
     "the thread is created; logged on the CPU of its creator"},
    {FTrace_EVT_task_activate, "task_activate", event, context, {}, kActivate, "context", "",
     {About::context, Meaning::activate, Mention::wakes},
     "is woken; logged on the CPU where the kernel finished the wakeup (the waker's or, through an interrupt, the woken thread's)"},
    {FTrace_EVT_task_dispatch, "task_dispatch", event, context, {}, kDispatch, "", "",
     {About::any_context, Meaning::dispatch, Mention::wakes}, "is switched in"},
    {FTrace_EVT_task_epilogue, "task_epilogue", event, context, {}, kOffCpu, "", "",
     {About::any_context, Meaning::epilogue}, "is switched out while runnable"},
    {FTrace_EVT_task_end, "task_end", event, context, {}, kTid, "context", "pid",
     {About::any_context, Meaning::end, Mention::ends}, "is switched out for ever"},
    {FTrace_EVT_task_begin_cycle, "task_begin_cycle", event, context, {}, {}, "", "",
     {About::any_context, Meaning::begin_cycle}, "a cycle of a periodic task starts"},
    {FTrace_EVT_task_end_cycle, "task_end_cycle", event, context, {}, {}, "context", "level",
     {About::any_context, Meaning::end_cycle}, "the cycle ends"},
    {FTrace_EVT_task_sleep, "task_sleep", event, context, {}, kSleep, "", "",
     {About::any_context, Meaning::sleep}, "is switched out blocked"},
    {FTrace_EVT_task_schedule, "task_schedule", event, context, {}, kInheritance, "exec_shadow",
     "exec", {About::context, Meaning::schedule, Mention::wakes},
     "the scheduler chose the thread `for`; this one runs in its place"},
    {FTrace_EVT_task_timer, "task_timer", event, context, {}, {}, "context", "level",
     {About::context, Meaning::release}, "the next cycle is released"},
    {FTrace_EVT_task_disable, "task_disable", event, context, {}, {}, "", "", kAnyContext,
     "no more cycles"},
    {FTrace_EVT_task_deadline_miss, "task_deadline_miss", event, context, {}, kLate, "context",
     "", kAnyContext, "its job has missed its deadline; how late the job was when the kernel side noticed",
     FTRACE_FAMILY_SERVER},
    {FTrace_EVT_task_wcet_violation, "task_wcet_violation", event, context, {}, {}, "context",
     "", kAnyContext, "it ran longer than its worst-case execution time"},
    // family 3: interrupts
    {FTrace_EVT_interrupt_start, "interrupt_start", event, number, kInterrupt, kInterrupted,
     "int", "", {About::nobody, Meaning::interrupt_begin}, "an interrupt starts"},
    {FTrace_EVT_interrupt_end, "interrupt_end", event, number, kInterrupt, kInterrupted, "int",
     "", {About::nobody, Meaning::interrupt_end}, "it ends"},
    {FTrace_EVT_interrupt_hit, "interrupt_hit", event, number, kFree1, kFree2, "", "", kNobody,
     "the instant of an interrupt that has no end"},
    {FTrace_EVT_interrupt_count, "interrupt_count", event, number, kFree1, kFree2, "", "",
     kNobody, "interrupts since the last interrupt_count"},
    // family 4: CPU
    {FTrace_EVT_to_real_mode, "to_real_mode", event, nothing, {}, {}, "", "", kNobody,
     "the CPU goes to real mode"},
    {FTrace_EVT_to_protected_mode, "to_protected_mode", event, nothing, {}, {}, "", "", kNobody,
     "the CPU goes to protected mode"},
    {FTrace_EVT_CLI, "CLI", event, nothing, {}, {}, "", "", kNobody, "interrupts are off"},
    {FTrace_EVT_STI, "STI", event, nothing, {}, {}, "", "", kNobody, "interrupts are on"},
    // family 5: priorities
    {FTrace_EVT_set_priority, "set_priority", event, maybe_context, {}, kPriority, "", "",
     kAnyContext, "its priority or policy changes"},
    {FTrace_EVT_context_switch, "context_switch", event, maybe_context, {}, {}, "context", "",
     {About::context, Meaning::gets_cpu, Mention::wakes}, "the CPU goes to it"},
    {FTrace_EVT_inheritance, "inheritance", event, maybe_context, {}, kInheritance,
     "exec_shadow", "exec", {About::context, Meaning::schedule, Mention::wakes},
     "this thread inherits the priority of the thread `for`, which waits for a mutex of this thread; if `for` is this thread, it no longer inherits"},
    // family 6: mutexes
    {FTrace_EVT_mutex_create, "mutex_create", event, maybe_context, {}, {}, "", "", kAnyContext,
     "it creates a mutex"},
    {FTrace_EVT_mutex_lock, "mutex_lock", event, maybe_context, {}, kLock, "context", "mutex",
     {About::any_context, Meaning::lock}, "it gets a mutex, or its wait ends"},
    {FTrace_EVT_mutex_inherit, "mutex_inherit", event, maybe_context, {}, {}, "", "",
     kAnyContext, "a priority is inherited through a mutex"},
    {FTrace_EVT_mutex_unlock, "mutex_unlock", event, maybe_context, {}, kMutex, "context",
     "mutex", kAnyContext, "it asks the kernel to unlock a mutex"},
    {FTrace_EVT_mutex_unlock_misprint, "mutex_unlock", event, maybe_context, {}, kMutex,
     "context", "mutex", kAnyContext, "`mutex_unlock` with the code that the manual prints. ovnitrace reads it, but never writes it"},
    {FTrace_EVT_mutex_wait, "mutex_wait", event, maybe_context, {}, kMutex, "context", "mutex",
     {About::any_context, Meaning::wait}, "it asks the kernel to wait for a mutex or another futex"},
    {FTrace_EVT_mutex_post, "mutex_post", event, maybe_context, {}, kMutex, "context", "mutex",
     kAnyContext, "it asks the kernel to wake threads that wait"},
    // family 7: signals
    {FTrace_EVT_signal, "signal", event, maybe_context, {}, kSignal, "", "", kAnyContext,
     "a signal is sent to it, or it takes one"},
    // family 8: servers
    {FTrace_EVT_server_create, "server_create", event, maybe_context, {}, kBudget, "", "server",
     kNobody, "it becomes a SCHED_DEADLINE thread, with this budget in each period"},
    {FTrace_EVT_server_replenish, "server_replenish", event, maybe_context, {}, {}, "",
     "server", kNobody, "its budget is replenished"},
    {FTrace_EVT_server_exhaust, "server_exhaust", event, maybe_context, {}, kExhaust, "",
     "server", kNobody, "its budget is exhausted, or given back until the next period"},
    {FTrace_EVT_server_reclaiming, "server_reclaiming", event, maybe_context, {}, {}, "",
     "server", kNobody, "it reclaims time that others leave"},
    {FTrace_EVT_server_remove, "server_remove", event, maybe_context, {}, {}, "", "server",
     kNobody, "it leaves SCHED_DEADLINE, or ends"},
    {FTrace_EVT_server_active, "server_active", event, maybe_context, {}, kBudget, "", "server",
     kNobody, "it gets a CPU, with this rest of its budget"},
    {FTrace_EVT_server_using_rec, "server_using_rec", event, number, kReclaiming, kFree2,
     "reclaiming", "server", kNobody, "it uses reclaimed time"},
    // family 9: user events
    user_event(FTrace_EVT_user_event_0, "user_event_0"),
    user_event(FTrace_EVT_user_event_1, "user_event_1"),
    user_event(FTrace_EVT_user_event_2, "user_event_2"),
    user_event(FTrace_EVT_user_event_3, "user_event_3"),
    user_event(FTrace_EVT_user_event_4, "user_event_4"),
    user_event(FTrace_EVT_user_event_5, "user_event_5"),
    user_event(FTrace_EVT_user_event_6, "user_event_6"),
    user_event(FTrace_EVT_user_event_7, "user_event_7"),
    user_event(FTrace_EVT_user_event_8, "user_event_8"),
    user_event(FTrace_EVT_user_event_9, "user_event_9"),
    user_event(FTrace_EVT_user_event_10, "user_event_10"),
    user_event(FTrace_EVT_user_event_11, "user_event_11"),
    user_event(FTrace_EVT_user_event_12, "user_event_12"),
    {FTrace_EVT_user_event_13, "user_event_13", event, number, kSectionPar1, kSectionBegin, "",
     "", kRunning, "the program logged it; by user_event.h: a section starts"},
    {FTrace_EVT_user_event_14, "user_event_14", event, number, kSectionPar1, kSectionEnd, "",
     "", kRunning, "the program logged it; by user_event.h: a section ends"},
    // family A: data
    {FTrace_EVT_data_pointer, "data_pointer", event, number, kFree1IfSet, kPointer, "", "", kRunning,
     "points to data of the previous event"},
    // family B: timers
    {FTrace_EVT_timer_post, "timer_post", event, maybe_context, {}, kTimerPost, "", "",
     kRunning, "it arms a timer"},
    {FTrace_EVT_timer_delete, "timer_delete", event, maybe_context, {}, kTimer, "", "",
     kRunning, "it cancels a timer, or arms it anew"},
    {FTrace_EVT_timer_wakeup_start, "timer_wakeup_start", event, maybe_context, {}, kTimerFires,
     "", "", {About::nobody, Meaning::interrupt_begin},
     "a timer that it armed expires: the handler starts"},
    {FTrace_EVT_timer_wakeup_end, "timer_wakeup_end", event, maybe_context, {}, kTimer,
     "context", "", {About::context, Meaning::wakeup_end, Mention::wakes}, "the handler ends"},
    // family C: extensions about a thread
    {FTrace_EXT_process, "EXT_process", control, context, {}, kPid, "", "", {},
     "process of the thread; the TSC is its birth, 0 before the capture"},
    {FTrace_EXT_name_0, "EXT_name_0", control, context, {}, kCharacters, "", "", {},
     "4 characters of its name, the first in the low byte; a new name starts here"},
    {FTrace_EXT_name_1, "EXT_name_1", control, context, {}, kCharacters, "", "", {},
     "4 characters of its name, the first in the low byte"},
    {FTrace_EXT_name_2, "EXT_name_2", control, context, {}, kCharacters, "", "", {},
     "4 characters of its name, the first in the low byte"},
    {FTrace_EXT_name_3, "EXT_name_3", control, context, {}, kCharacters, "", "", {},
     "4 characters of its name, the first in the low byte"},
    {FTrace_EXT_exec, "EXT_exec", event, context, {}, kExec, "", "", {},
     "execve; the tid that the thread had before"},
    {FTrace_EXT_exit, "EXT_exit", event, context, {}, kExit, "", "", {},
     "starts to exit, with this status or by this signal; `core`: with a core dump"},
    {FTrace_EXT_migrate, "EXT_migrate", event, context, {}, kCpu, "", "", {},
     "is put on another CPU"},
    {FTrace_EXT_snapshot, "EXT_snapshot", event, context, {}, kSnapshot, "", "", {},
     "was alive before the capture, or passes the filters from now on; state unknown: it no longer passes them"},
    {FTrace_EXT_parent, "EXT_parent", control, context, {}, kParent, "", "", {},
     "creator of the thread; the TSC is its birth"},
    {FTrace_EXT_state, "EXT_state", state, context, {}, kSnapshot, "", "", {},
     "its state, for a reader that lacks the earlier events"},
    {FTrace_EXT_stack, "EXT_stack", event, context, {}, kStack, "", "", {},
     "number of its stack when it leaves its CPU in the next record"},
    {FTrace_EXT_waker_stack, "EXT_waker_stack", event, context, {}, kStack, "", "", {},
     "number of the stack of the thread that wakes it in the next record"},
    {FTrace_EXT_affinity, "EXT_affinity", event, context, {}, kAffinity, "", "", {},
     "the CPUs that it may use from now on"},
    {FTrace_EXT_switch, "EXT_switch", two_events, context, {}, kSwitch, "", "", {},
     "`task_sleep` or `task_epilogue`, and the `task_dispatch` of the next thread",
     FTRACE_FAMILY_TASK},
    {FTrace_EXT_wake_switch, "EXT_wake_switch", three_events, context, {}, kWakeSwitch, "", "", {},
     "the `task_activate` of the next thread by this one, and then as `EXT_switch`",
     FTRACE_FAMILY_TASK},
    // family D: extensions about a chunk
    {FTrace_EXT_chunk, "EXT_chunk", control, number, kCpu, kChunk, "", "", {},
     "CPU of the chunk, and its number in the file"},
    {FTrace_EXT_format, "EXT_format", control, number, kVersion, kFormat, "", "", {},
     "version of the extensions; the second record of a chunk"},
    {FTrace_EXT_enable, "EXT_enable", event, maybe_context, {}, {}, "", "", {},
     "the program called `FTrace_enable`", FTRACE_FAMILY_USER},
    {FTrace_EXT_disable, "EXT_disable", event, maybe_context, {}, {}, "", "", {},
     "the program called `FTrace_disable`", FTRACE_FAMILY_USER},
    {FTrace_EXT_region, "EXT_region", event, context, {}, kRegion, "", "", {},
     "an alarm of `--control` has fired: a region starts or stops; `bcast`: for all threads; `again`: it was open already; `other`: the alarm fired in another thread"},
    {FTrace_EXT_holder, "EXT_holder", event, number, kCpu, kHolder, "", "", {},
     "this thread has the CPU, for which a thread of the trace waits", FTRACE_FAMILY_TASK},
    {FTrace_EXT_device, "EXT_device", event, context, {}, kDevice, "", "", {},
     "the block device whose I/O wakes it in the next record; 0, 0: not known which",
     FTRACE_FAMILY_TASK},
    {FTrace_EXT_refill, "EXT_refill", event, context, {}, {}, "", "", {},
     "it was throttled, and may run again", FTRACE_FAMILY_TASK},
    {FTrace_EXT_work, "EXT_work", event, context, {}, kWork, "", "", {},
     "a kernel worker wakes it next, in a work item that the thread `queued_by` queued", FTRACE_FAMILY_TASK},
    {FTrace_EXT_work_age, "EXT_work_age", event, context, {}, kWorkAge, "", "", {},
     "how long before the wakeup the work item was queued", FTRACE_FAMILY_TASK},
    {FTrace_EXT_cgroup, "EXT_cgroup", control, context, {}, kCgroup, "", "", {},
     "number of its cgroup; the TSC is when it entered the cgroup, 0 if before the capture"},
    {FTrace_EXT_cgroup_move, "EXT_cgroup_move", event, context, {}, kCgroup, "", "", {},
     "is put into another cgroup, which has this number"},
    {FTrace_EXT_mark, "EXT_mark", event, number, kMark, {}, "", "", {},
     "the user put this mark into the trace, by `ovnitrace ctl mark`", FTRACE_FAMILY_TRACE},
    {FTrace_EXT_extension, "EXT_extension", control, number, kPayloads, kExtensionFamily, "", "", {},
     "an event of a 32-bit family; that many `EXT_payload` records follow"},
    {FTrace_EXT_payload, "EXT_payload", control, number, kPayload, {}, "", "", {},
     "14 bytes of the payload of the `EXT_extension` before it"},
    // family E: power
    {FTrace_EXT_idle_start, "EXT_idle_start", event, nothing, {}, kIdleState, "", "", {},
     "the CPU enters this idle state"},
    {FTrace_EXT_idle_end, "EXT_idle_end", event, nothing, {}, {}, "", "", {}, "the CPU leaves its idle state"},
    {FTrace_EXT_frequency, "EXT_frequency", event, number, kCpu, kFrequency, "", "", {},
     "a CPU runs at this frequency from now on"},
    {FTrace_EXT_steal, "EXT_steal", event, nothing, {}, kSteal, "", "", {},
     "how long the hypervisor gave the CPU to others since the last reading"},
    // filters, and the end of a chunk
    filter(FTrace_filter_trace_Events, "filter_trace_Events"),
    filter(FTrace_filter_ipoint, "filter_ipoint"),
    filter(FTrace_filter_task, "filter_task"),
    filter(FTrace_filter_interrupt, "filter_interrupt"),
    filter(FTrace_filter_CPU, "filter_CPU"),
    filter(FTrace_filter_priority, "filter_priority"),
    filter(FTrace_filter_mutex, "filter_mutex"),
    filter(FTrace_filter_signal, "filter_signal"),
    filter(FTrace_filter_server, "filter_server"),
    filter(FTrace_filter_user, "filter_user"),
    filter(FTrace_filter_data, "filter_data"),
    filter(FTrace_filter_timer, "filter_timer"),
    {FTrace_EVT_next_chunk, "next_chunk", control, nothing, {}, kChunk, "", "", {},
     "the chunk ends; number of the next"},
};
// clang-format on

} // namespace fields::code_rows

/// All codes: families in the order of the manual, codes of a family by number. Unused codes have
/// no row.
inline constexpr std::span<const CodeInfo> kCodes = fields::code_rows::kRows;

} // namespace ovnitrace
