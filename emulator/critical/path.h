// SPDX-License-Identifier: BSD-2-Clause
// The critical path: who is responsible for each moment until a thread got where it is.
#pragma once

#include "emulator/core/cut.h"
#include "emulator/critical/disk_list.h"
#include "emulator/input/trace_dir.h"
#include "emulator/slices/interrupts.h"
#include "emulator/slices/slice.h"

#include <cstdint>
#include <optional>

namespace ovnitrace {

/// Why the time of a segment passed. Of a thread that was blocked it is what ended that.
enum class Cause : uint8_t {
  running,   ///< the thread ran
  waiting,   ///< it waited for a CPU
  throttled, ///< its cgroup had used up its CPU quota
  timer,     ///< blocked until a timer woke it
  io,        ///< blocked until a device woke it
  network,   ///< blocked until the network woke it
  interrupt, ///< blocked until another interrupt woke it, or nobody knows which one
  outside,   ///< blocked until a thread woke it that is not traced
  blocked,   ///< blocked; nobody is known to have woken it
  ended,     ///< the thread has ended
  unknown,   ///< its state is not known
  worker,    ///< blocked until a kernel worker had run a work item; the thread is who queued that
  unowned,   ///< the same, and nobody knows who queued it: the thread is who was blocked
  spins,     ///< it yielded again and again: it waited for something without blocking
};
inline constexpr uint32_t kCauses = 14;

/// A part of the path: one thread, for one reason.
struct PathSegment {
  uint64_t from = 0, to = 0; ///< ns on the clock of the trace
  uint32_t thread = kNone;   ///< index into Catalog::threads: who is responsible
  Cause cause = Cause::unknown;
  uint16_t call = FTRACE_CALL_UNKNOWN; ///< enum ftrace_call, of one that was blocked
  uint32_t device = kNone;             ///< io: number of the block device, kNone: not known
  uint16_t interrupt = kNoInterrupt;   ///< parameter 1 of interrupt_start: which one woke it
  Peer peer = {}; ///< waiting: who held the CPU; outside: who woke it; worker, unowned: which

  uint64_t length() const { return to - from; }
};

/// What the path leads to.
struct PathQuery {
  std::optional<uint32_t> tid; ///< none: main_thread()
  std::optional<uint32_t> section =
      {}; ///< the longest section of this number; none: the whole range
  std::optional<uint32_t> thread = {}; ///< by index in the Catalog; comes before `tid`
};

/// Segments follow one another without a gap, from `from` to `to`.
struct CriticalPath {
  uint32_t thread = kNone;        ///< whose path it is, index into Catalog::threads
  bool guessed = false;           ///< it is that thread's as it ran longest: nobody named one
  uint64_t from = 0, to = 0;      ///< ns on the clock of the trace
  DiskList<PathSegment> segments; ///< the last one first

  /// Calls `f(segment)` for each, in the order of time.
  template <class F> void for_each(F &&f) {
    for (uint64_t n = segments.count(); n-- > 0;)
      f(segments.at(n));
  }
};

/// Reads all of `source` once. Of `cut` the times count, and whose path it is where `query` names
/// nobody: a path leads through any thread. It ends where its thread does. `info` says what was
/// traced. Memory depends on threads and CPUs; the slices are in a temporary
/// file. Throws Error where there is no such thread or section.
CriticalPath critical_path(EventSource &source, const TraceInfo &info, const Cut &cut,
                           const PathQuery &query);

/// The main thread of the program that was traced, or of the first process that was attached to.
/// kNone where that is not known.
uint32_t main_thread(const Catalog &catalog, const TraceInfo &info);

} // namespace ovnitrace
