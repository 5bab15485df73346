// SPDX-License-Identifier: BSD-2-Clause
// Names the values in the parameters of events.
#pragma once

#include "emulator/format/alarm_types.h"
#include "emulator/format/state_table.h"

#include <ovnitrace/control.h>
#include <ovnitrace/ftrace_codes.h>

#include <array>
#include <cstdint>
#include <iterator>
#include <span>
#include <string_view>

namespace ovnitrace {

struct ValueName {
  uint32_t value;
  std::string_view name;  ///< one word, as `dump` prints it
  std::string_view label; ///< as Paraver shows it
};
using ValueNames = std::span<const ValueName>;

/// Returns the name of a value, empty if it has none.
constexpr std::string_view name_of(ValueNames names, uint32_t value) {
  for (const ValueName &entry : names)
    if (entry.value == value)
      return entry.name;
  return {};
}

inline constexpr ValueName kReasonNames[] = {
    {FTRACE_OFFCPU_YIELDED, "yielded", "Yielded"},
    {FTRACE_OFFCPU_PREEMPTED, "preempted", "Preempted"},
    {FTRACE_OFFCPU_SLEEP, "sleep", "Sleeping"},
    {FTRACE_OFFCPU_DISK, "disk", "Uninterruptible sleep"},
    {FTRACE_OFFCPU_STOPPED, "stopped", "Stopped by a signal"},
    {FTRACE_OFFCPU_TRACED, "traced", "Stopped by a debugger"},
    {FTRACE_OFFCPU_DEAD, "dead", "Dead"},
    {FTRACE_OFFCPU_PARKED, "parked", "Parked"},
    {FTRACE_OFFCPU_IDLE, "idle", "Idle kernel thread"},
    {FTRACE_OFFCPU_THROTTLED, "throttled", "Throttled: no CPU quota is left"},
    {FTRACE_OFFCPU_REFILLED, "refilled", "Was throttled: it has quota or budget again"},
    {FTRACE_OFFCPU_EXHAUSTED, "exhausted", "Until its next period: its budget was used up"},
    {FTRACE_OFFCPU_NEXT_PERIOD, "next_period", "Until its next period: it has yielded"},
    {FTRACE_OFFCPU_FROZEN, "frozen", "Frozen (cgroup freezer)"},
    {FTRACE_OFFCPU_WAITED, "waited", "Waited for a CPU before the trace; why is not known"},
};

/// The reasons why a woken thread may not run yet.
inline constexpr ValueName kHeldBackNames[] = {kReasonNames[FTRACE_OFFCPU_THROTTLED],
                                               kReasonNames[FTRACE_OFFCPU_EXHAUSTED],
                                               kReasonNames[FTRACE_OFFCPU_NEXT_PERIOD]};

inline constexpr ValueName kClassNames[] = {
    {FTRACE_CLASS_NORMAL, "normal", "Normal"},
    {FTRACE_CLASS_REAL_TIME, "real_time", "Real time"},
    {FTRACE_CLASS_DEADLINE, "deadline", "Deadline"},
};

inline constexpr ValueName kWakerContextNames[] = {
    {FTRACE_WAKER_TASK, "task", "Thread"},
    {FTRACE_WAKER_SOFTIRQ, "softirq", "Soft interrupt"},
    {FTRACE_WAKER_HARDIRQ, "hardirq", "Hard interrupt"},
    {FTRACE_WAKER_NMI, "nmi", "NMI"},
    {FTRACE_WAKER_UNKNOWN, "unknown", "Unknown"},
};

/// The states that records have: ovni's.
inline constexpr auto kStateNames = [] {
  std::array<ValueName, OVNI_THREAD_STATES> names{};
  for (uint32_t state = 0; state < names.size(); state++)
    names[state] = {state, kStateTable[state].name, kStateTable[state].label};
  return names;
}();

inline constexpr ValueName kRegionEventNames[] = {
    {CONTROL_STOP, "stop", "Stop"},
    {CONTROL_START, "start", "Start"},
    {CONTROL_THREADID, "threadid", "Thread id"},
    {CONTROL_PRECOND, "precond", "Precondition"},
};

/// The types of alarms, and the other causes that start and stop a region.
inline constexpr auto kRegionTypeNames = [] {
  std::array<ValueName, std::size(control::kAlarmTypes) + 3> names{};
  auto to = names.begin();
  *to++ = {CONTROL_NO_ALARM, "begin", "No alarm: it starts by itself"};
  for (const control::AlarmType &type : control::kAlarmTypes)
    *to++ = {type.type, type.name, type.label};
  *to++ = {CONTROL_PROGRAM, "program", "The program"};
  *to++ = {CONTROL_END, "exec", "Another program"};
  return names;
}();

inline constexpr ValueName kBlackoutNames[] = {
    {FTRACE_BLACKOUT_TRANSITIONS, "cpu", "On this CPU"},
    {FTRACE_BLACKOUT_SOMEWHERE, "machine", "Somewhere on the machine"},
    {FTRACE_BLACKOUT_FAMILIES, "families", "Only events of other families"},
    {FTRACE_BLACKOUT_FORGOTTEN, "forgotten", "Older than what a flight recorder keeps"},
    {FTRACE_BLACKOUT_MISSING, "missing", "In no file"},
    {FTRACE_BLACKOUT_PAUSED, "paused", "The user had paused the capture"},
    {FTRACE_BLACKOUT_OUTSIDE, "outside", "Before or after this trace"},
};

/// include/uapi/linux/sched.h
inline constexpr ValueName kPolicyNames[] = {
    {0, "other", "Other"},    {1, "fifo", "FIFO"}, {2, "rr", "Round robin"},
    {3, "batch", "Batch"},    {5, "idle", "Idle"}, {6, "deadline", "Deadline"},
    {7, "ext", "Extensible"},
};

inline constexpr ValueName kTimerNames[] = {
    {FTRACE_TIMER_OTHER, "other", "Timer"},
    {FTRACE_TIMER_SLEEP, "sleep", "Sleep or timeout"},
    {FTRACE_TIMER_ITIMER, "itimer", "Interval timer"},
    {FTRACE_TIMER_POSIX, "posix", "POSIX timer"},
    {FTRACE_TIMER_TIMERFD, "timerfd", "Timer of a descriptor"},
};

/// arch/x86/include/asm/irq_vectors.h
inline constexpr ValueName kVectorNames[] = {
    {0xec, "timer", "Timer of the CPU"},
    {0xf6, "irq_work", "IRQ work"},
    {0xfb, "call_single", "Function call from a CPU"},
    {0xfc, "call", "Function call from CPUs"},
    {0xfd, "reschedule", "Reschedule"},
};

/// include/linux/interrupt.h; names as in /proc/softirqs
inline constexpr ValueName kSoftirqNames[] = {
    {0, "HI", "Soft: high tasklets"},    {1, "TIMER", "Soft: timer"},
    {2, "NET_TX", "Soft: network send"}, {3, "NET_RX", "Soft: network receive"},
    {4, "BLOCK", "Soft: block"},         {5, "IRQ_POLL", "Soft: IRQ poll"},
    {6, "TASKLET", "Soft: tasklets"},    {7, "SCHED", "Soft: scheduler"},
    {8, "HRTIMER", "Soft: hrtimer"},     {9, "RCU", "Soft: RCU"},
};

/// Linux's numbers on x86-64 and arm64 (include/uapi/asm-generic/signal.h)
inline constexpr ValueName kSignalNames[] = {
    {1, "HUP", "SIGHUP"},        {2, "INT", "SIGINT"},        {3, "QUIT", "SIGQUIT"},
    {4, "ILL", "SIGILL"},        {5, "TRAP", "SIGTRAP"},      {6, "ABRT", "SIGABRT"},
    {7, "BUS", "SIGBUS"},        {8, "FPE", "SIGFPE"},        {9, "KILL", "SIGKILL"},
    {10, "USR1", "SIGUSR1"},     {11, "SEGV", "SIGSEGV"},     {12, "USR2", "SIGUSR2"},
    {13, "PIPE", "SIGPIPE"},     {14, "ALRM", "SIGALRM"},     {15, "TERM", "SIGTERM"},
    {16, "STKFLT", "SIGSTKFLT"}, {17, "CHLD", "SIGCHLD"},     {18, "CONT", "SIGCONT"},
    {19, "STOP", "SIGSTOP"},     {20, "TSTP", "SIGTSTP"},     {21, "TTIN", "SIGTTIN"},
    {22, "TTOU", "SIGTTOU"},     {23, "URG", "SIGURG"},       {24, "XCPU", "SIGXCPU"},
    {25, "XFSZ", "SIGXFSZ"},     {26, "VTALRM", "SIGVTALRM"}, {27, "PROF", "SIGPROF"},
    {28, "WINCH", "SIGWINCH"},   {29, "IO", "SIGIO"},         {30, "PWR", "SIGPWR"},
    {31, "SYS", "SIGSYS"},
};

} // namespace ovnitrace
