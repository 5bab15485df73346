// SPDX-License-Identifier: BSD-2-Clause
// Holds the result of `why`: where the time of threads went, and who is to blame.
#pragma once

#include "emulator/core/cut.h"
#include "emulator/slices/idle_watch.h"
#include "emulator/summary/latency_histogram.h"
#include "emulator/why/culprit.h"
#include "emulator/why/preempted_wakers.h"
#include "emulator/why/priority_waits.h"
#include "emulator/why/wait_kind.h"

#include <ovnitrace/ftrace_codes.h>

#include <array>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace ovnitrace {

/// How long threads waited while one holder held the CPU.
struct WaitSum {
  /// The waiting thread, index into Catalog::threads; in sums over threads one of the host.
  uint32_t thread = 0;
  WaitKind kind = WaitKind::not_known;
  Culprit holder = {}; ///< ran on the CPU
  uint64_t ns = 0;
};

/// In what a thread was blocked.
struct Block {
  uint16_t call = FTRACE_CALL_UNKNOWN; ///< enum ftrace_call
  uint8_t reason = kNotKnown;          ///< enum ftrace_offcpu_reason
  bool page_fault = false;             ///< the stack shows one; the call is none
  bool disk = false;                   ///< a block device ended it
  auto operator<=>(const Block &) const = default;
};

/// Returns whether a thread is blocked for a reason that has nothing to do with its system call.
constexpr bool ignores_call(uint8_t reason) {
  return reason == FTRACE_OFFCPU_STOPPED || reason == FTRACE_OFFCPU_TRACED ||
         reason == FTRACE_OFFCPU_FROZEN || reason == FTRACE_OFFCPU_PARKED ||
         reason == FTRACE_OFFCPU_IDLE;
}

/// Returns why a thread is blocked in a slice, as far as the slice says it.
inline Block block_of(const Slice &slice) {
  const bool has_call = !ignores_call(slice.reason);
  return {.call = has_call ? slice.call : uint16_t(FTRACE_CALL_UNKNOWN), .reason = slice.reason};
}

struct BlockSum {
  uint32_t thread = 0;
  Block block = {};
  uint32_t stack = kNone; ///< number in the table of stacks; kNone: no stack
  Culprit waker = {};
  uint64_t ns = 0, count = 0;

  std::array<uint64_t, 4> key() const {
    return {thread,
            uint32_t(block.disk) << 25 | uint32_t(block.page_fault) << 24 |
                uint32_t(block.call) << 8 | block.reason,
            stack, waker.code()};
  }
};

/// How often a thread was woken by a culprit, and how long it then waited for a CPU.
struct WakeSum {
  uint32_t thread = 0;
  Culprit waker = {};
  uint64_t count = 0;
  uint64_t measured = 0;           ///< of them, how many got the thread a CPU in the range
  uint64_t late = 0, late_max = 0; ///< ns, of these

  std::array<uint64_t, 2> key() const { return {thread, waker.code()}; }
};

/// How long a thread waited for a futex until one culprit woke it.
struct LockSum {
  uint32_t thread = 0;
  uint32_t futex = 0;    ///< low 32 bits of its address in the thread's process
  bool inherits = false; ///< a PI futex: the waker had held it
  Culprit waker = {};    ///< nobody: the thread did not block
  uint64_t count = 0, gave_up = 0;
  uint64_t ns = 0, max = 0;
  uint32_t max_stack = kNone; ///< where it blocked in the longest wait; kNone: not known

  std::array<uint64_t, 3> key() const { return {thread, futex, waker.code()}; }
};

/// Why the state of a thread is not known. With `no_region`, nothing is missing: nobody asked.
enum class UnknownWhy : uint8_t {
  not_seen_yet,
  lost,
  forgotten,
  missing,
  paused,
  outside,
  other,
  no_region
};
inline constexpr size_t kUnknownWhys = 7; ///< without no_region

/// The time of a thread in the range, ns.
struct ThreadTime {
  uint64_t running = 0, waiting = 0, blocked = 0, unknown = 0;
  uint64_t outside = 0;  ///< outside the regions of --control: not recorded
  uint64_t spinning = 0; ///< of `waiting`: after a yield of a spinning thread, which loses nothing
  uint64_t gate = 0;     ///< blocked until ovnitrace let the program run
  uint64_t start_waits = 0; ///< waiting for a CPU before that: after wakeups by ovnitrace
  /// `idle_known`: the part of `waiting` for which it is known whether another CPU was idle.
  /// `idle_elsewhere`: of that, time in which a CPU was idle that the thread may use.
  uint64_t idle_known = 0, idle_elsewhere = 0;
  uint64_t idle_forbidden = 0; ///< time in which only CPUs were idle that it may not use
  uint64_t latency_share = 0;  ///< of `running`: each moment is shared by all threads that run
  IdleTimes idle = {};         ///< part of `idle_known` in which any CPU was idle, by cause

  /// Returns the time of the thread, without the time outside regions and at the start gate.
  uint64_t life() const { return running + waiting + blocked + unknown; }
  /// Returns the part of `waiting` that is lost: all but spins.
  uint64_t lost() const { return waiting - spinning; }
  /// Returns whether the thread slept for at least 99.9 % of its life, as the helpers of a server
  /// do. Up to 1 % of the life may be unknown.
  bool hardly_ran() const {
    return blocked && running + waiting <= life() / 1000 && unknown <= life() / 100;
  }
  /// Adds the times that tables of groups show.
  void add(const ThreadTime &other) {
    running += other.running;
    waiting += other.waiting;
    spinning += other.spinning;
    blocked += other.blocked;
    unknown += other.unknown;
    latency_share += other.latency_share;
  }
};

/// A wait for a CPU, or a block, that is listed in a line of its own.
struct LongWait {
  struct Part {
    Culprit holder;
    uint32_t cpu; ///< on which the holder ran: index into Catalog::cpus
    uint64_t ns;
  };
  static constexpr size_t kMostParts = 64;
  static bool is_larger(const Part &a, const Part &b) {
    return std::pair(a.holder.is_known(), a.ns) > std::pair(b.holder.is_known(), b.ns);
  }

  uint32_t thread = 0;
  uint64_t start = 0, end = 0; ///< ns on the clock of the trace
  /// A wait for a CPU: for which one it waited longest, index into Catalog::cpus, and how long. The
  /// scheduler can move a waiting thread.
  uint32_t cpu = kNone;
  uint64_t cpu_ns = 0;
  bool moved = false; ///< it waited for other CPUs too
  WaitKind kind = WaitKind::not_known;
  /// A hit after a refill: for how long it was throttled before, ns, and why.
  uint64_t throttled = 0;
  WaitKind throttled_kind = WaitKind::not_known;
  Block block = {};       ///< of a wait after a wakeup: in what it was blocked before
  uint32_t stack = kNone; ///< of the block
  /// Who woke the thread; after a preemption: who got its CPU. Nobody, if a block has not ended.
  Culprit by = {};
  /// At most kMostParts, the longest first, unknown ones last.
  std::vector<Part> holders = {};
  IdleElsewhere idle = {};           ///< of a wait
  bool more_holders = false;         ///< there were more holders, with less time
  bool starts = false, ends = false; ///< as in Slice: it was seen from its start, to its end

  uint64_t length() const { return end - start; }
};

/// Who held the CPUs during the slowest waits.
struct TailSums {
  struct Holder {
    Culprit culprit;
    uint32_t host = 0; ///< where the thread that waited runs
    uint64_t ns = 0;
  };
  uint64_t count = 0, all = 0;      ///< these waits, and all
  uint64_t shortest = UINT64_MAX;   ///< ns, of these waits
  std::vector<Holder> holders = {}; ///< most time first, unknown ones last
};

struct Explanation {
  TimeRange range = {};
  uint64_t recorded = 0;      ///< ns of the range; with --control: in which a region was open
  uint64_t covered = 0;       ///< ns in which at least one shown thread ran
  uint64_t dark = 0;          ///< ns of all CPUs together, whose events are missing
  std::vector<uint8_t> shown; ///< by index in the Catalog: whether the cut keeps it
  std::vector<ThreadTime> threads = {};            ///< by index in the Catalog
  std::array<uint64_t, kUnknownWhys> unknown = {}; ///< ns, of all shown threads together
  /// By holder, of all threads together: most time first, unknown holders last.
  std::vector<WaitSum> held = {};
  /// By thread, then as `held`. A thread with very many holders has sums only for the longest (see
  /// WaitTimes).
  std::vector<WaitSum> waits = {};
  std::vector<BlockSum> blocks = {}; ///< by thread, then most time first
  /// How many CPUs the shown threads that ran might use, by their last affinities; 0: not known.
  size_t allowed_cpus = 0;
  std::vector<WakeSum> wakes = {}; ///< most often first
  std::vector<LockSum> locks = {}; ///< most time first
  PreemptedWakers::Sum preempted_wakers = {};
  PriorityWaits priorities = {};
  /// Only waits that were seen whole, of all threads together.
  std::array<LatencyHistogram, kWaitKinds> wait_lengths = {};
  std::vector<std::pair<Block, LatencyHistogram>> block_lengths = {};
  static constexpr size_t kMostWaits = 100; ///< as many as the page of `report` lists
  static constexpr size_t kMostLines = 10;  ///< of blocks, and of waits in text
  std::vector<LongWait> longest_waits = {}, longest_blocks = {}; ///< the longest first
  std::vector<LongWait> idle_waits = {}; ///< with most IdleTimes::total() first
  TailSums tail = {};                    ///< of the slowest 1 %; empty if there are few waits
  std::vector<LongWait> hit = {};        ///< the wait or block that hit a --trigger, if any
  bool hit_is_block = false;
  uint64_t hit_time = 0; ///< on the clock of the trace
};

} // namespace ovnitrace
