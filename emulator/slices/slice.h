// SPDX-License-Identifier: BSD-2-Clause
// Defines slices, the life of each thread in pieces: all outputs but the PRV read them.
#pragma once

#include "emulator/core/system.h"
#include "emulator/format/event.h"
#include "emulator/format/thread_state.h"
#include "emulator/input/source.h"

#include <cstdint>

namespace ovnitrace {

inline constexpr uint8_t kNotKnown = 0xff; ///< no reason, no context

/// A time of one thread in one state and, if Running, on one CPU. The slices of a thread follow
/// each other without a gap. Where nothing is known there is a slice of state Unknown.
struct Slice {
  uint32_t thread = kNone; ///< index into Catalog::threads
  /// Index into System::cpus(), kNone: none. A Running thread runs there. In any other state, the
  /// thread was there when the state began.
  uint32_t cpu = kNone;
  uint64_t start = 0, end = 0; ///< ns on the clock of the trace, within the shown range
  ThreadState state = ThreadState::Unknown;
  ThreadState then = ThreadState::Unknown; ///< the next state; `state` at the end of the range
  /// An event of the range, at exactly this time, started or ended the state. False where the range
  /// cuts the slice off, where a snapshot found the state, and where events were lost.
  bool starts = false, ends = false;
  /// enum ftrace_offcpu_reason. How a Running slice ended; how a Cooling or Paused slice began.
  /// When a thread gets quota or budget again, a throttled Cooling slice ends and a refilled one
  /// follows. A Warming slice that a snapshot found has FTRACE_OFFCPU_WAITED.
  uint8_t reason = kNotKnown;
  /// enum ftrace_wakeup_context of `waker`, which ended a Paused slice, or started a Warming one or
  /// one that is throttled from the wakeup on.
  /// Only in FTRACE_WAKER_TASK the waker itself did; otherwise an interrupt that came while it ran.
  uint8_t context = kNotKnown;
  /// A Paused slice: enum ftrace_call in which it is blocked.
  uint16_t call = FTRACE_CALL_UNKNOWN;
  /// Numbers in the table of stacks (emulator/input/stacks.h), kNone: no stack. `stack`: where the
  /// thread left its CPU. `waker_stack`: where `waker` was.
  uint32_t stack = kNone, waker_stack = kNone;
  Peer next = {}; ///< the thread that got the CPU; set with `reason`
  Peer waker = {};

  uint64_t length() const { return end - start; }
  /// Returns whether it starts with a wakeup that is in the range.
  bool is_woken() const {
    return starts && (state == ThreadState::Warming ||
                      (ftrace_offcpu_is_throttled(reason) && context != kNotKnown));
  }
  /// Returns whether its length is a wakeup latency: both ends were seen, and the thread got a CPU
  /// without having been throttled.
  bool is_latency() const {
    return state == ThreadState::Warming && starts && ends && then == ThreadState::Running;
  }
};

/// A time in which a CPU ran shown threads, or its events are missing.
struct CpuSpan {
  enum class What : uint8_t {
    busy, ///< a shown thread ran on it
    dark, ///< its events were lost or forgotten, or are missing
  };
  uint32_t cpu = kNone;        ///< index into System::cpus()
  uint64_t start = 0, end = 0; ///< ns on the clock of the trace, within the range that is shown
  What what = What::busy;
  bool counted = true; ///< dark: how many events are missing is known
};

/// Returns whether a blackout_start is of missing records, and it is not known how many events they
/// had.
constexpr bool loses_uncounted(const Event &event) {
  return event.par1 == FTRACE_BLACKOUT_MISSING && event.par2 == 0;
}

/// Takes slices. What is passed is valid only during the call. If the source is live, the sink
/// learns of every thread before the thread's first event, whatever the cut.
class SliceSink : public ThreadObserver {
public:
  /// Takes an event of the range, of a shown thread or of no thread, before its effect. If the
  /// range starts with the trace, earlier events that set up the first states are passed too.
  virtual void on_event(const Event &, const System &) {}
  /// Takes a slice, in the order of their ends. A slice can have length 0.
  virtual void on_slice(const Slice &) {}
  virtual void on_cpu(const CpuSpan &) {}
  /// Takes a change of a thread's state, its CPU or both. Then on_slice() takes the slice that the
  /// change ends. Changes of every thread are passed from the start of the trace on, whatever the
  /// cut.
  virtual void on_change(uint32_t, const StateChange &, uint64_t /*time*/) {}
};

} // namespace ovnitrace
