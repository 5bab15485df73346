// SPDX-License-Identifier: BSD-2-Clause
// Finds the critical path: who is responsible for each moment until a thread got where it is.
#pragma once

#include "emulator/core/cut.h"
#include "emulator/critical/disk_list.h"
#include "emulator/input/trace_info.h"
#include "emulator/slices/interrupts.h"
#include "emulator/slices/slice.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace ovnitrace {

/// Why the time of a segment passed. For a blocked thread: what ended the block.
enum class Cause : uint8_t {
  running,   ///< the thread ran
  waiting,   ///< it waited for a CPU
  throttled, ///< it had no CPU quota or SCHED_DEADLINE budget left
  timer,     ///< blocked until a timer woke it
  io,        ///< blocked until a device woke it
  network,   ///< blocked until the network woke it
  interrupt, ///< blocked until another or an unknown interrupt woke it
  outside,   ///< blocked until an untraced thread woke it
  blocked,   ///< blocked; the trace does not say what woke it
  ended,     ///< the thread has ended
  unknown,   ///< its state is not known
  worker,    ///< blocked until a kernel worker ran a work item; `thread` queued it
  unowned,   ///< the same, and it is not known who queued the item; `thread` was blocked
  spins,     ///< it yielded again and again: it waited for something without blocking
  not_woken, ///< blocked when the range ends: nothing has woken it yet
};
inline constexpr uint32_t kCauses = 15;

/// A part of the path: one thread and one cause.
struct PathSegment {
  uint64_t from = 0, to = 0; ///< ns on the clock of the trace
  uint32_t thread = kNone;   ///< responsible thread, index into Catalog::threads
  Cause cause = Cause::unknown;
  uint16_t call = FTRACE_CALL_UNKNOWN; ///< of a blocked thread: enum ftrace_call
  uint32_t device = kNone;             ///< io: number of the block device, kNone: not known
  uint16_t interrupt = kNoInterrupt;   ///< that woke it: parameter 1 of interrupt_start
  bool preempted = false;              ///< waiting: since it was preempted, not since a wakeup
  Peer peer = {}; ///< waiting: who held the CPU; outside: who woke it; worker, unowned: the worker

  uint64_t length() const { return to - from; }
};

/// Where the path ends.
struct PathQuery {
  std::optional<uint32_t> tid; ///< absent: main_thread()
  /// The longest section of this number; absent: the whole range.
  std::optional<uint32_t> section = {};
  std::optional<uint32_t> thread = {}; ///< index in the Catalog; overrides `tid`
};

/// A path. Its segments cover `from` to `to` without a gap.
struct CriticalPath {
  uint32_t thread = kNone;        ///< whose path it is, index into Catalog::threads
  uint32_t last = kNone;          ///< at its end: another thread of the process outlived `thread`
  bool guessed = false;           ///< nobody named a thread: this one ran longest
  uint64_t from = 0, to = 0;      ///< ns on the clock of the trace
  DiskList<PathSegment> segments; ///< the last one first

  /// Calls `f(segment)` for each segment, in the order of time.
  template <class F> void for_each(F &&f) {
    for (uint64_t n = segments.count(); n-- > 0;)
      f(segments.at(n));
  }
};

/// Returns the path that ends where its thread does, from reading all of `source` once. The path of
/// a main thread that ends before its process goes on with the thread of the process that ends
/// last. `cut` selects the time and, if `query` names no thread, the threads that the path may end
/// in; a path leads through any thread. Memory grows with threads and CPUs: slices are in a
/// temporary file. Throws Error if there is no such thread or section.
CriticalPath critical_path(EventSource &source, const TraceInfo &info, const Cut &cut,
                           const PathQuery &query);

/// Does the same, and adds the paths of up to `more` other threads that the cut keeps, those that
/// ran longest first. They are of the same range, up to the end of their thread.
std::vector<CriticalPath> critical_paths(EventSource &source, const TraceInfo &info, const Cut &cut,
                                         const PathQuery &query, size_t more);

/// Returns the main thread of the traced program, or of the first process attached to; kNone if
/// that is not known.
uint32_t main_thread(const Catalog &catalog, const TraceInfo &info);

} // namespace ovnitrace
