// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/dump/dump_line.h"

#include "emulator/base/number_text.h"
#include "emulator/event_names.h"
#include "emulator/input/code_kind.h"

#include <ovnitrace/ftrace_codes.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

namespace ovnitrace {

namespace {

constexpr size_t kTimeWidth = 16;
constexpr size_t kCpuWidth = 4;
constexpr size_t kNameWidth = 19;   // task_wcet_violation
constexpr size_t kThreadWidth = 24; // 15 characters of comm and 7 digits, but for the rarest
constexpr size_t kMaxComm = 64;     // of another input than ours it may be longer
constexpr uint64_t kNsPerSecond = 1000000000;

constexpr std::array<std::string_view, 9> kReasons = {
    "yielded", "preempted", "sleep", "disk", "stopped", "traced", "dead", "parked", "idle"};
constexpr std::array<std::string_view, 5> kContexts = {"task", "softirq", "hardirq", "nmi",
                                                       "unknown"};
constexpr std::array<std::string_view, 8> kPolicies = {"other", "fifo", "rr",       "batch",
                                                       "4",     "idle", "deadline", "ext"};
constexpr std::array<std::string_view, 5> kTimers = {"other", "sleep", "itimer", "posix",
                                                     "timerfd"};
constexpr std::array<std::string_view, 6> kStates = {"unknown", "running", "paused",
                                                     "dead",    "cooling", "warming"};

char *put_text(char *at, std::string_view text) {
  std::memcpy(at, text.data(), text.size());
  return at + text.size();
}

char *put_left(char *at, std::string_view text, size_t width) {
  at = put_text(at, text);
  for (size_t i = text.size(); i < width; i++)
    *at++ = ' ';
  return at;
}

char *put_right(char *at, uint64_t number, size_t width) {
  for (size_t i = decimal_digits(number); i < width; i++)
    *at++ = ' ';
  return put_decimal(at, number);
}

/// Since the begin; what is before it has a minus.
char *put_seconds(char *at, uint64_t time, uint64_t begin) {
  const uint64_t ns = time < begin ? begin - time : time - begin;
  const uint64_t whole = ns / kNsPerSecond;
  const bool minus = time < begin;
  for (size_t i = decimal_digits(whole) + minus; i < kTimeWidth - 10; i++)
    *at++ = ' ';
  if (minus)
    *at++ = '-';
  at = put_decimal(at, whole);
  *at++ = '.';
  const uint64_t fraction = ns % kNsPerSecond;
  for (uint32_t i = decimal_digits(fraction); i < 9; i++)
    *at++ = '0';
  return put_decimal(at, fraction);
}

char *put_number(char *at, std::string_view key, uint64_t value) {
  *at++ = ' ';
  at = put_text(at, key);
  *at++ = '=';
  return put_decimal(at, value);
}

/// As the kernel counts it: -1 for SCHED_DEADLINE.
char *put_priority(char *at, int priority) {
  if (priority < 0)
    return put_text(at, " priority=-1");
  return put_number(at, "priority", uint64_t(priority));
}

/// The name of an FTrace code, or the three letters of an event of an ovni stream.
char *put_event(char *at, uint32_t kind) {
  if (kind <= UINT8_MAX)
    return put_left(at, event_name(kind), kNameWidth);
  const char letters[] = {char(kind >> 16), char(kind >> 8), char(kind)};
  char *const begin = at;
  for (char letter : letters)
    *at++ = letter > ' ' && letter < 0x7f ? letter : '?';
  return put_left(at, "", kNameWidth - size_t(at - begin));
}

/// Whether parameter 1 says something else than which thread it is.
constexpr bool has_own_par1(const Event &event) {
  return event.thread == kNone ||
         (event.kind < kCodeKinds.size() && kCodeKinds[event.kind] == CodeKind::plain_event);
}

/// "irq=3", "softirq=1" or "vector=236".
char *put_interrupt(char *at, uint32_t par1) {
  if (par1 & FTRACE_INTERRUPT_SOFT)
    return put_number(at, "softirq", par1 & ~FTRACE_INTERRUPT_SOFT);
  if (par1 & FTRACE_INTERRUPT_VECTOR)
    return put_number(at, "vector", par1 & ~FTRACE_INTERRUPT_VECTOR);
  return put_number(at, "irq", par1);
}

/// A value by its name, by its number if it has none.
template <size_t N>
char *put_name(char *at, std::string_view key, const std::array<std::string_view, N> &names,
               uint32_t value) {
  if (value >= N)
    return put_number(at, key, value);
  *at++ = ' ';
  at = put_text(at, key);
  *at++ = '=';
  return put_text(at, names[value]);
}

} // namespace

DumpLine::DumpLine(const Catalog &catalog) : catalog_(catalog) {
  for (const ThreadInfo &thread : catalog.threads) {
    std::string text = thread.name.substr(0, kMaxComm) + " (" + std::to_string(thread.tid) + ")";
    text.resize(std::max(text.size(), kThreadWidth), ' ');
    threads_.push_back(std::move(text));
  }
}

char *DumpLine::put(char *at, const Event &event) const {
  at = put_seconds(at, event.time, catalog_.begin);
  *at++ = ' ';
  if (event.cpu < catalog_.cpus.size())
    at = put_right(at, catalog_.cpus[event.cpu].index, kCpuWidth);
  else
    at = put_text(at, "   -");
  at = put_event(put_text(at, "  "), event.kind);
  at = put_text(at, "  ");
  at = event.thread < threads_.size() ? put_text(at, threads_[event.thread])
                                      : put_left(at, "-", kThreadWidth);
  at = put_details(at, event);
  while (at[-1] == ' ')
    at--;
  *at++ = '\n';
  return at;
}

char *DumpLine::put_peer(char *at, const Event &event) const {
  const uint32_t tid = event.par2 & FTRACE_TID_MASK;
  return put_number(at, event.kind == FTrace_EVT_task_activate ? "waker" : "next", tid);
}

char *DumpLine::put_details(char *at, const Event &event) const {
  const uint32_t high = event.par2 >> FTRACE_REASON_SHIFT;
  const uint32_t added = added_par2(event);
  switch (event.kind) {
  case FTrace_EVT_task_dispatch: {
    const uint32_t priority = event.par2 & FTRACE_PRIO_MASK;
    return priority ? put_priority(at, int(priority) - FTRACE_PRIO_BIAS) : at;
  }
  case FTrace_EVT_task_epilogue:
  case FTrace_EVT_task_sleep:
    return put_name(put_peer(at, event), "reason", kReasons, high);
  case FTrace_EVT_task_activate:
    at = put_name(put_peer(at, event), "context", kContexts, high);
    return event.par2 & FTRACE_WAKEUP_NEW ? put_number(at, "new", 1) : at;
  case FTrace_EXT_migrate:
    return put_number(at, "cpu", event.par2);
  case FTrace_EXT_exec:
    return put_number(at, "from", event.par2);
  case FTrace_EXT_exit:
    return put_number(at, "status", event.par2);
  case FTrace_EXT_snapshot:
    at = put_name(at, "state", kStates, event.par2 & FTRACE_SNAPSHOT_STATE_MASK);
    at = put_number(at, "cpu", event.par2 >> FTRACE_SNAPSHOT_CPU_SHIFT & 0xffff);
    return high ? put_name(at, "reason", kReasons, high) : at;
  case FTrace_EVT_blackout_end:
    if (event.par1 == FTRACE_BLACKOUT_MISSING)
      return put_text(at, " records=missing");
    return put_number(at, event.par1 == FTRACE_BLACKOUT_FORGOTTEN ? "forgotten" : "lost",
                      event.par2);
  case FTrace_EVT_interrupt_start:
  case FTrace_EVT_interrupt_end:
    return put_number(put_interrupt(at, event.par1), "interrupted", event.par2 & FTRACE_TID_MASK);
  case FTrace_EVT_signal:
    if (!(added >> FTRACE_SIGNAL_SHIFT))
      break;
    at = put_number(at, "signal", high);
    if (event.par2 & FTRACE_SIGNAL_DELIVERED)
      return put_number(at, "taken", 1);
    return put_number(at, "sender", event.par2 & FTRACE_TID_MASK);
  case FTrace_EVT_set_priority:
    if (added >> FTRACE_POLICY_SHIFT == 0)
      break;
    at = put_priority(at, int(event.par2 & FTRACE_PRIO_MASK) - FTRACE_PRIO_BIAS);
    return put_name(at, "policy", kPolicies, (event.par2 >> FTRACE_POLICY_SHIFT) - 1);
  case FTrace_EVT_mutex_lock: {
    const uint32_t how = added & (FTRACE_FUTEX_PLAIN | FTRACE_FUTEX_GAVE_UP);
    if (const uint32_t mutex = event.par2 & ~how; mutex || !how)
      at = put_number(at, "mutex", mutex); // not told of a wait of S.Ha.R.K.
    if (how & FTRACE_FUTEX_GAVE_UP)
      return put_number(at, "gave_up", 1);
    return how & FTRACE_FUTEX_PLAIN ? put_number(at, "waited", 1) : at;
  }
  case FTrace_EVT_mutex_wait:
  case FTrace_EVT_mutex_post:
  case FTrace_EVT_mutex_unlock:
    return put_number(at, "mutex", event.par2);
  case FTrace_EVT_timer_post:
  case FTrace_EVT_timer_delete:
  case FTrace_EVT_timer_wakeup_start:
  case FTrace_EVT_timer_wakeup_end:
    if (!added)
      break; // the manual gives them none
    at = put_name(at, "timer", kTimers, event.par2 & FTRACE_TIMER_KIND_MASK);
    if (event.kind == FTrace_EVT_timer_post)
      return put_number(at, "in_us", event.par2 >> FTRACE_TIMER_SHIFT);
    if (event.kind == FTrace_EVT_timer_wakeup_start)
      return put_number(at, "late_ns", event.par2 >> FTRACE_TIMER_SHIFT);
    return at;
  case FTrace_EVT_task_deadline_miss:
    return added ? put_number(at, "late_ns", added) : at;
  case FTrace_EVT_server_exhaust:
    if (event.thread == kNone)
      break;
    return put_number(at, event.par2 & FTRACE_SERVER_YIELDED ? "yielded_ns" : "overrun_ns",
                      event.par2 & ~FTRACE_SERVER_YIELDED);
  case FTrace_EVT_server_create:
  case FTrace_EVT_server_active:
    if (event.thread == kNone)
      break;
    return put_number(at, "budget_ns", event.par2);
  case FTrace_EVT_inheritance:
    if (event.peer < catalog_.threads.size())
      return put_number(at, "for", catalog_.threads[event.peer].tid);
    break;
  case FTrace_EVT_task_create:
  case FTrace_EVT_task_end: // their tid is that of the thread
  case FTrace_EVT_trace_start:
  case FTrace_EVT_trace_stop:
    return at;
  case FTrace_EVT_blackout_start:
    return event.par1 == FTRACE_BLACKOUT_MISSING ? put_text(at, " records=missing") : at;
  }
  at = has_own_par1(event) ? put_number(at, "par1", event.par1) : at;
  return put_number(at, "par2", event.par2);
}

} // namespace ovnitrace
