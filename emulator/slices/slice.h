// SPDX-License-Identifier: BSD-2-Clause
// The life of each thread as slices: the stream that every output but the PRV reads.
#pragma once

#include "emulator/core/system.h"
#include "emulator/format/event.h"
#include "emulator/format/thread_state.h"

#include <cstdint>

namespace ovnitrace {

/// Another thread as an event names it, traced or not.
struct Peer {
  uint32_t tid = kNone;    ///< 0: the idle task; kNone: not known
  uint32_t thread = kNone; ///< index into Catalog::threads; kNone: not traced
};

inline constexpr uint8_t kNotKnown = 0xff; ///< no reason, no context

/// One thread in one state; where it is Running, on one CPU. Those of a thread follow one another
/// without a gap. What is not known is a slice too: of state Unknown.
struct Slice {
  uint32_t thread = kNone; ///< index into Catalog::threads
  /// Index into System::cpus(), kNone: none. Where it runs; of any other state, where it was when
  /// the state began.
  uint32_t cpu = kNone;
  uint64_t start = 0, end = 0; ///< ns on the clock of the trace, within the range that is shown
  ThreadState state = ThreadState::Unknown;
  ThreadState then = ThreadState::Unknown; ///< what follows; the same at the end of the range
  /// An event at this very time, in the range, made the state start or end. False where the range
  /// cuts the slice off, where a snapshot found the state, and where events were lost.
  bool starts = false, ends = false;
  /// enum ftrace_offcpu_reason: of a Running one how it ended, of a Cooling or Paused one how it
  /// began. A Cooling one that is throttled ends, and the next one is refilled, where an event says
  /// that its cgroup has quota again.
  uint8_t reason = kNotKnown;
  /// enum ftrace_wakeup_context of `waker`, who made a Warming slice start or a Paused one end.
  /// Only in context FTRACE_WAKER_TASK the waker did it; else an interrupt did while it ran.
  uint8_t context = kNotKnown;
  uint16_t call = FTRACE_CALL_UNKNOWN; ///< enum ftrace_call: in which a Paused one is blocked
  /// Numbers in the table of stacks (emulator/input/stacks.h), kNone: no stack was taken. Where a
  /// Running one left its CPU, or a Cooling or Paused one; where `waker` was.
  uint32_t stack = kNone, waker_stack = kNone;
  Peer next = {}; ///< who got the CPU: with `reason`
  Peer waker = {};

  uint64_t length() const { return end - start; }
};

/// A time in which a CPU was busy with threads that are shown, or dark.
struct CpuSpan {
  enum class What : uint8_t {
    busy, ///< a thread ran on it
    dark, ///< its events were lost or forgotten, or are missing
  };
  uint32_t cpu = kNone;        ///< index into System::cpus()
  uint64_t start = 0, end = 0; ///< ns on the clock of the trace, within the range that is shown
  What what = What::busy;
  bool counted = true; ///< a dark one: how many events are missing is known; false: nobody knows
};

/// Whether a blackout_start is of records that are missing, of which nobody knows how many events.
constexpr bool loses_uncounted(const Event &event) {
  return event.par1 == FTRACE_BLACKOUT_MISSING && event.par2 == 0;
}

/// Takes the stream. What is handed over holds during the call only.
class SliceSink {
public:
  virtual ~SliceSink() = default;
  /// An event in the range, of a thread that is shown or of no thread, before what it changes.
  /// Where the range is from the start of the trace on, also those before it that made the states
  /// there.
  virtual void on_event(const Event &, const System &) {}
  /// In the order in which they end. A slice can be of length 0.
  virtual void on_slice(const Slice &) {}
  virtual void on_cpu(const CpuSpan &) {}
  /// A thread has changed its state, its CPU, or both, at this time; before the slice that this
  /// ends. Of every thread and from the start of the trace on, whatever the cut.
  virtual void on_change(uint32_t, const StateChange &, uint64_t /*time*/) {}
};

} // namespace ovnitrace
