// SPDX-License-Identifier: BSD-2-Clause
// Names the bits of the parameters of events.
#pragma once

#include "emulator/format/value_names.h"

#include <ovnitrace/ftrace_codes.h>

#include <bit>
#include <cstdint>
#include <span>
#include <string_view>

namespace ovnitrace {

/// What the value of a field is.
enum class Unit : uint8_t {
  number,
  address,      ///< its low 32 bits, in place; printed in hexadecimal
  tid,          ///< of a thread
  peer,         ///< tid of the second thread, 0 if there is none
  peer_context, ///< context of the second thread
  cpu,          ///< number of a CPU, all ones if not known
  cpus,         ///< a bit for each CPU; printed in hexadecimal
  ns,
  us,
  call,     ///< enum ftrace_call; the field has some of its bits, Event::call has all
  priority, ///< the kernel's: -1 is SCHED_DEADLINE, 0-98 real time, 100-139 nice
  flag,     ///< 0 or 1
  mark,     ///< number of a mark of `ovnitrace ctl`
};

/// When `dump` prints a field.
enum class Show : uint8_t { always, if_set, never };

/// A range of bits of a parameter, and its name.
struct Field {
  std::string_view name;
  Unit unit = Unit::number;
  uint32_t mask = UINT32_MAX;
  ValueNames names = {};
  Show show = Show::always;
  uint32_t bias = 0;   ///< value = bits - bias; bits of 0 mean not known
  uint32_t when = 0;   ///< present only if one of these bits of the parameter is set
  uint32_t unless = 0; ///< present only if none of these bits is set

  constexpr bool is_in(uint32_t parameter) const {
    return (!when || (parameter & when)) && !(parameter & unless);
  }
  constexpr uint32_t bits(uint32_t parameter) const {
    return unit == Unit::address ? parameter & mask : (parameter & mask) >> std::countr_zero(mask);
  }
};
using Fields = std::span<const Field>;

namespace fields {

using enum Show;

inline constexpr Field kTid[] = {{.name = "tid", .unit = Unit::tid, .show = never}};
inline constexpr Field kDispatch[] = {{.name = "priority",
                                       .unit = Unit::priority,
                                       .mask = FTRACE_PRIO_MASK,
                                       .bias = FTRACE_PRIO_BIAS}};
/// How the kernel schedules a thread that is not traced.
inline constexpr Field kClass = {
    .name = "class", .mask = FTRACE_CLASS_MASK, .names = kClassNames, .show = if_set};
inline constexpr Field kOffCpu[] = {
    {.name = "next", .unit = Unit::peer, .mask = FTRACE_TID_MASK},
    kClass,
    {.name = "reason", .mask = FTRACE_REASON_MASK, .names = kReasonNames}};
inline constexpr Field kSleep[] = {
    {.name = "next", .unit = Unit::peer, .mask = FTRACE_TID_MASK},
    kClass,
    {.name = "reason", .mask = FTRACE_REASON_MASK, .names = kReasonNames},
    {.name = "call", .unit = Unit::call, .mask = FTRACE_CALL_PAR2(~0), .show = if_set}};
inline constexpr Field kSwitch[] = {
    {.name = "next", .unit = Unit::peer_context, .mask = FTRACE_SWITCH_NEXT_MASK},
    {.name = "priority",
     .unit = Unit::priority,
     .mask = FTRACE_PRIO_MASK << FTRACE_SWITCH_PRIO_SHIFT,
     .bias = FTRACE_PRIO_BIAS},
    {.name = "reason", .mask = FTRACE_REASON_MASK, .names = kReasonNames},
    {.name = "call", .unit = Unit::call, .mask = FTRACE_CALL_PAR2(~0), .show = if_set}};
inline constexpr Field kWakeSwitch[] = {
    {.name = "next", .unit = Unit::peer_context, .mask = FTRACE_WAKE_SWITCH_NEXT_MASK},
    {.name = "woken_ns",
     .unit = Unit::ns,
     .mask = FTRACE_WAKE_SWITCH_TICKS_MASK << FTRACE_WAKE_SWITCH_TICKS_SHIFT},
    {.name = "reason", .mask = FTRACE_REASON_MASK, .names = kReasonNames},
    {.name = "call", .unit = Unit::call, .mask = FTRACE_CALL_PAR2(~0), .show = if_set}};
inline constexpr Field kActivate[] = {
    {.name = "waker", .unit = Unit::peer, .mask = FTRACE_TID_MASK},
    {.name = "context", .mask = FTRACE_REASON_MASK, .names = kWakerContextNames},
    {.name = "new", .unit = Unit::flag, .mask = FTRACE_WAKEUP_NEW, .show = if_set},
    {.name = "held_back",
     .mask = 0xfu << FTRACE_WAKEUP_HELD_SHIFT,
     .names = kHeldBackNames,
     .show = if_set}};
inline constexpr Field kMark[] = {{.name = "mark", .unit = Unit::mark}};
inline constexpr Field kCpu[] = {{.name = "cpu", .unit = Unit::cpu}};
inline constexpr Field kHolder[] = {{.name = "holder", .unit = Unit::peer, .mask = FTRACE_TID_MASK},
                                    kClass};
inline constexpr Field kExec[] = {{.name = "from", .unit = Unit::tid}};
/// The parts of a wait status, as wait(2) has them.
inline constexpr uint32_t kExitSignal = 0x7f;
inline constexpr Field kExit[] = {
    {.name = "status", .mask = 0xff00, .unless = kExitSignal},
    {.name = "signal", .mask = kExitSignal, .names = kSignalNames, .show = if_set},
    {.name = "core", .unit = Unit::flag, .mask = 0x80, .show = if_set}};
inline constexpr Field kSnapshot[] = {
    {.name = "state", .mask = FTRACE_SNAPSHOT_STATE_MASK, .names = kStateNames},
    {.name = "cpu", .unit = Unit::cpu, .mask = 0xffffu << FTRACE_SNAPSHOT_CPU_SHIFT},
    {.name = "reason", .mask = FTRACE_REASON_MASK, .names = kReasonNames, .show = if_set},
    {.name = "call", .unit = Unit::call, .mask = FTRACE_CALL_PAR2(~0), .show = if_set}};
inline constexpr Field kBlackout[] = {{.name = "what", .names = kBlackoutNames, .show = if_set}};
inline constexpr Field kLost[] = {{.name = "lost", .show = if_set}};
inline constexpr Field kInterrupt[] = {
    {.name = "softirq", .mask = 0x7fff, .names = kSoftirqNames, .when = FTRACE_INTERRUPT_SOFT},
    {.name = "vector",
     .mask = 0x3fff,
     .names = kVectorNames,
     .when = FTRACE_INTERRUPT_VECTOR,
     .unless = FTRACE_INTERRUPT_SOFT},
    {.name = "irq", .mask = 0x3fff, .unless = FTRACE_INTERRUPT_SOFT | FTRACE_INTERRUPT_VECTOR}};
inline constexpr Field kInterrupted[] = {
    {.name = "interrupted", .unit = Unit::peer, .mask = FTRACE_TID_MASK}};
inline constexpr Field kPriority[] = {
    {.name = "priority",
     .unit = Unit::priority,
     .mask = FTRACE_PRIO_MASK,
     .bias = FTRACE_PRIO_BIAS},
    {.name = "policy", .mask = 0xffu << FTRACE_POLICY_SHIFT, .names = kPolicyNames, .bias = 1}};
inline constexpr Field kInheritance[] = {{.name = "for", .unit = Unit::peer_context}};
inline constexpr Field kMutex[] = {{.name = "mutex", .unit = Unit::address}};
inline constexpr Field kLock[] = {
    {.name = "mutex",
     .unit = Unit::address,
     .mask = ~(FTRACE_FUTEX_PLAIN | FTRACE_FUTEX_GAVE_UP),
     .show = if_set},
    {.name = "waited",
     .unit = Unit::flag,
     .mask = FTRACE_FUTEX_PLAIN,
     .show = if_set,
     .unless = FTRACE_FUTEX_GAVE_UP},
    {.name = "gave_up", .unit = Unit::flag, .mask = FTRACE_FUTEX_GAVE_UP, .show = if_set}};
inline constexpr Field kSignal[] = {
    {.name = "signal", .mask = 0xffu << FTRACE_SIGNAL_SHIFT, .names = kSignalNames},
    {.name = "taken", .unit = Unit::flag, .mask = FTRACE_SIGNAL_DELIVERED, .show = if_set},
    {.name = "to_process", .unit = Unit::flag, .mask = FTRACE_SIGNAL_PROCESS, .show = if_set},
    {.name = "sender",
     .unit = Unit::peer,
     .mask = FTRACE_TID_MASK,
     .unless = FTRACE_SIGNAL_DELIVERED}};
inline constexpr Field kIdleState[] = {{.name = "state"}};
inline constexpr Field kFrequency[] = {{.name = "khz"}};
inline constexpr Field kSteal[] = {{.name = "stolen_us", .unit = Unit::us}};
inline constexpr Field kAffinity[] = {
    {.name = "word", .mask = 0xffu << FTRACE_AFFINITY_SHIFT, .show = if_set},
    {.name = "cpus", .unit = Unit::cpus, .mask = FTRACE_AFFINITY_MASK}};
inline constexpr Field kDevice[] = {{.name = "major", .mask = ~FTRACE_DEVICE_MINOR_MASK},
                                    {.name = "minor", .mask = FTRACE_DEVICE_MINOR_MASK}};
inline constexpr Field kTimerPost[] = {
    {.name = "timer", .mask = FTRACE_TIMER_KIND_MASK, .names = kTimerNames},
    {.name = "in_us", .unit = Unit::us, .mask = ~FTRACE_TIMER_KIND_MASK}};
inline constexpr Field kTimer[] = {
    {.name = "timer", .mask = FTRACE_TIMER_KIND_MASK, .names = kTimerNames}};
inline constexpr Field kTimerFires[] = {
    {.name = "timer", .mask = FTRACE_TIMER_KIND_MASK, .names = kTimerNames},
    {.name = "late_ns", .unit = Unit::ns, .mask = ~FTRACE_TIMER_KIND_MASK}};
inline constexpr Field kLate[] = {{.name = "late_ns", .unit = Unit::ns}};
inline constexpr Field kBudget[] = {{.name = "budget_ns", .unit = Unit::ns}};
inline constexpr Field kExhaust[] = {{.name = "yielded_ns",
                                      .unit = Unit::ns,
                                      .mask = ~FTRACE_SERVER_YIELDED,
                                      .when = FTRACE_SERVER_YIELDED},
                                     {.name = "overrun_ns",
                                      .unit = Unit::ns,
                                      .mask = ~FTRACE_SERVER_YIELDED,
                                      .unless = FTRACE_SERVER_YIELDED}};
inline constexpr Field kFree1[] = {{.name = "par1"}};
inline constexpr Field kFree1IfSet[] = {{.name = "par1", .show = if_set}};
inline constexpr Field kTicksPerMs[] = {{.name = "ticks_per_ms", .show = never}};
inline constexpr Field kFree2[] = {{.name = "par2"}};
inline constexpr Field kSectionPar1[] = {{.name = "par1", .show = if_set}};
inline constexpr Field kSectionBegin[] = {{.name = "section_begin"}};
inline constexpr Field kSectionEnd[] = {{.name = "section_end"}};
inline constexpr Field kPointer[] = {{.name = "pointer", .unit = Unit::address}};
inline constexpr Field kStatus[] = {{.name = "status"}};
inline constexpr Field kReclaiming[] = {{.name = "reclaiming"}};
inline constexpr Field kRate[] = {{.name = "ticks_per_ms"}};
inline constexpr Field kRecords[] = {{.name = "records"}};
inline constexpr Field kParent[] = {{.name = "parent", .unit = Unit::tid}};
inline constexpr Field kPid[] = {{.name = "pid"}};
inline constexpr Field kCharacters[] = {{.name = "characters"}};
inline constexpr Field kVersion[] = {{.name = "version"}};
inline constexpr Field kFormat[] = {
    {.name = "differences", .unit = Unit::flag, .mask = FTRACE_FORMAT_DIFFERENCES}};
inline constexpr Field kChunk[] = {{.name = "chunk"}};
inline constexpr Field kRegion[] = {
    {.name = "event", .mask = 3u << FTRACE_REGION_EVENT_SHIFT, .names = kRegionEventNames},
    {.name = "alarm", .mask = 0xffu << FTRACE_REGION_TYPE_SHIFT, .names = kRegionTypeNames},
    {.name = "chain", .mask = 0xffu << FTRACE_REGION_CHAIN_SHIFT, .show = if_set},
    {.name = "step", .mask = 0xffu << FTRACE_REGION_ALARM_SHIFT, .show = if_set},
    {.name = "thread", .unit = Unit::flag, .mask = FTRACE_REGION_THREAD, .show = if_set},
    {.name = "bcast", .unit = Unit::flag, .mask = FTRACE_REGION_BCAST, .show = if_set},
    {.name = "again", .unit = Unit::flag, .mask = FTRACE_REGION_AGAIN, .show = if_set},
    {.name = "other", .unit = Unit::flag, .mask = FTRACE_REGION_OTHER, .show = if_set}};
inline constexpr Field kWork[] = {
    {.name = "queued_by", .unit = Unit::peer, .mask = FTRACE_TID_MASK}};
inline constexpr Field kWorkAge[] = {{.name = "ns",
                                      .unit = Unit::ns,
                                      .mask = ~FTRACE_WORK_MICROSECONDS,
                                      .unless = FTRACE_WORK_MICROSECONDS},
                                     {.name = "us",
                                      .unit = Unit::us,
                                      .mask = ~FTRACE_WORK_MICROSECONDS,
                                      .when = FTRACE_WORK_MICROSECONDS}};
inline constexpr Field kCgroup[] = {{.name = "cgroup"}};
inline constexpr Field kStack[] = {{.name = "stack"}};
inline constexpr Field kPayloads[] = {{.name = "payloads"}};
inline constexpr Field kExtensionFamily[] = {{.name = "family"}};
inline constexpr Field kPayload[] = {{.name = "payload"}};

} // namespace fields

} // namespace ovnitrace
