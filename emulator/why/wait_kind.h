// SPDX-License-Identifier: BSD-2-Clause
// Says what happened before a wait for a CPU.
#pragma once

#include "emulator/format/thread_state.h"

#include <ovnitrace/ftrace_codes.h>

#include <cstddef>
#include <cstdint>

namespace ovnitrace {

/// What happened before a wait for a CPU.
enum class WaitKind : uint8_t {
  wakeup,
  preemption,
  yield,
  spin, ///< a yield of a thread that has spun in sched_yield() before
  throttling,
  budget, ///< SCHED_DEADLINE: used up, until the next period
  period, ///< SCHED_DEADLINE: it yielded, until the next period
  refill, ///< after one of these three
  not_known
};
inline constexpr size_t kWaitKinds = 9;

/// Returns whether the thread could not run even on an idle CPU, so that no thread holds its CPU.
constexpr bool is_throttled(WaitKind kind) {
  return kind == WaitKind::throttling || kind == WaitKind::budget || kind == WaitKind::period;
}

/// Returns whether a CPU would have helped. A thread that spins has nothing to do.
constexpr bool wants_cpu(WaitKind kind) {
  return !is_throttled(kind) && kind != WaitKind::spin;
}

/// Returns the kind of a wait in `state`, never `spin`. `reason`: enum ftrace_offcpu_reason or
/// kNotKnown.
inline WaitKind wait_kind(ThreadState state, uint8_t reason) {
  if (state == ThreadState::Warming)
    return reason == FTRACE_OFFCPU_WAITED ? WaitKind::not_known : WaitKind::wakeup;
  switch (reason) {
  case FTRACE_OFFCPU_PREEMPTED:
    return WaitKind::preemption;
  case FTRACE_OFFCPU_YIELDED:
    return WaitKind::yield;
  case FTRACE_OFFCPU_THROTTLED:
    return WaitKind::throttling;
  case FTRACE_OFFCPU_EXHAUSTED:
    return WaitKind::budget;
  case FTRACE_OFFCPU_NEXT_PERIOD:
    return WaitKind::period;
  case FTRACE_OFFCPU_REFILLED:
    return WaitKind::refill;
  default:
    return WaitKind::not_known;
  }
}

} // namespace ovnitrace
