// SPDX-License-Identifier: BSD-2-Clause
// Holds what each thread and each CPU did, in numbers.
#pragma once

#include "emulator/format/event.h"
#include "emulator/format/thread_state.h"
#include "emulator/slices/idle_causes.h"
#include "emulator/summary/counters.h"
#include "emulator/summary/latency_histogram.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <vector>

namespace ovnitrace {

/// Times of one kind: their number, their sum, and the longest one.
struct Spans {
  uint64_t count = 0;
  uint64_t time = 0; ///< ns
  uint64_t max = 0;  ///< ns
  /// End of the longest, ns on the clock of the trace; the first of equal ones.
  uint64_t max_at = 0;

  void add(uint64_t start, uint64_t end);
  void add(const Spans &other);
};

/// The states whose times reports sum up, in the order of their columns. All but Dead.
inline constexpr std::array kSummedStates = {ThreadState::Running, ThreadState::Cooling,
                                             ThreadState::Warming, ThreadState::Paused,
                                             ThreadState::Unknown};
static_assert(kSummedStates.size() == kThreadStates - 1);

struct ThreadSummary : ThreadCounters {
  /// ns in each state, by ThreadState, from its birth to its end.
  std::array<uint64_t, kThreadStates> time{};
  // add_explained() of emulator/why/answered_summary.h sets these five. The first three are left
  // out of reports.
  uint64_t outside = 0;        ///< of Unknown, ns: outside the regions of --control
  uint64_t gate = 0;           ///< of Paused, ns: until ovnitrace let the program run
  uint64_t start_waits = 0;    ///< of Warming, ns: before that, after wakeups by ovnitrace
  uint64_t idle_known = 0;     ///< ns of waiting of which it is known whether CPUs were idle
  IdleTimes idle = {};         ///< of that: in which they were
  LatencyHistogram latency;    ///< from woken to Running, ns
  uint64_t latency_max_at = 0; ///< when the longest one ended, ns on the clock of the trace
  Spans mutex_waits;           ///< for futexes and mutexes, with both ends seen
  uint64_t waits_given_up = 0; ///< of them
  Spans late;                  ///< of jobs that missed a deadline: until the kernel noticed
  uint64_t budgets = 0;        ///< how often the budget of SCHED_DEADLINE was replenished
  uint64_t budgets_used_up = 0;
  Spans throttling;           ///< in ShownState::throttled, as far as it is in the range
  uint64_t found_waiting = 0; ///< of Warming, ns: waited when the trace began, woken or preempted

  uint64_t running() const { return time[size_t(ThreadState::Running)]; }
  /// Returns the ns in which it existed, in any state.
  uint64_t alive() const;
  /// Returns the ns to report for a state: without the time outside regions and at the start gate.
  uint64_t reported(ThreadState state) const {
    const uint64_t left_out = state == ThreadState::Unknown   ? outside
                              : state == ThreadState::Paused  ? gate
                              : state == ThreadState::Warming ? start_waits
                                                              : 0;
    return time[size_t(state)] - left_out;
  }
  /// Returns the ns of its life to report, which is the sum of reported().
  uint64_t recorded() const { return alive() - outside - gate - start_waits; }
  uint64_t throttled_time() const { return throttling.time; } ///< ns of Cooling
  /// Returns the rest of Cooling, ns.
  uint64_t preempted_time() const { return time[size_t(ThreadState::Cooling)] - throttled_time(); }
  /// Returns how often it left its CPU. Linux counts all but `voluntary` as involuntary.
  uint64_t switches() const;
  /// Adds the numbers of another thread.
  void add(const ThreadSummary &other);
};

/// The frequencies of a CPU, as far as they are known.
struct CpuFrequency {
  uint64_t changes = 0;         ///< that were seen
  uint64_t known = 0;           ///< ns
  uint32_t least = 0, most = 0; ///< kHz
  double khz_ns = 0;            ///< sum of kHz times ns

  uint32_t mean_khz() const { return known ? uint32_t(std::lround(khz_ns / double(known))) : 0; }
};

struct CpuSummary {
  uint64_t busy = 0;       ///< ns in which a thread of the trace was Running on it
  uint64_t switches = 0;   ///< how often a thread of the trace got it
  uint64_t lost = 0;       ///< events lost on it
  uint64_t unknown = 0;    ///< ns of its blackouts
  bool lost_more = false;  ///< records are missing, with an unknown number of further events
  uint64_t interrupts = 0; ///< ns in which it served interrupts, with both ends seen
  /// By parameter 1 of interrupt_start. Without the time of nested interrupts.
  std::map<uint16_t, Spans> interrupt = {};
  std::map<uint32_t, Spans> idle = {}; ///< by number: idle states with both ends seen
  CpuFrequency frequency = {};
  uint64_t stolen = 0;       ///< ns that the hypervisor took from it
  bool stolen_known = false; ///< the kernel counted that
};

/// How often `peer` did something to `thread`.
struct PairCount {
  uint32_t thread = 0; ///< by index in the Catalog
  uint32_t peer = 0;   ///< by index in the Catalog, kNone: not traced, or an interrupt
  uint32_t tid = 0;    ///< of the peer, 0: the idle task; kNone: an interrupt
  uint64_t count = 0;
  /// The name that a peer that is not traced had at the time: index in HostInfo::peers of the
  /// thread's host. kNone: not known.
  uint32_t name = kNone;
};

/// A region of --control.
struct RegionSummary {
  uint32_t thread = 0;                    ///< that started it, by index in the Catalog
  uint64_t start = 0, stop = 0;           ///< ns on the clock of the trace; stop 0: not stopped
  uint32_t chain = 0;                     ///< 1 + index of the chain, 0: none
  bool of_thread = false;                 ///< of that thread alone, not of its process
  bool bcast = false;                     ///< it started for all threads
  bool by_other = false;                  ///< with of_thread: the alarm fired in another thread
  uint64_t repeated_starts = 0;           ///< starts while it was open
  uint8_t started_by = 0, stopped_by = 0; ///< enum control_type
  uint64_t running = 0, waiting = 0;      ///< ns, of all its threads; waiting for a CPU
};

struct Summary {
  std::vector<ThreadSummary> threads; ///< by index in the Catalog
  std::vector<uint8_t> shown;         ///< by index in the Catalog: whether the cut keeps it
  std::vector<CpuSummary> cpus;       ///< by index in the Catalog
  /// Who got the CPU of a thread that was preempted, most first.
  std::vector<PairCount> preemptions;
  std::vector<PairCount> wakeups;                            ///< who woke a thread, most first
  std::map<uint32_t, Spans> sections;                        ///< by number, with both ends seen
  std::map<uint32_t, LatencyHistogram> section_lengths = {}; ///< of these, ns
  std::vector<RegionSummary> regions;                        ///< by their start
  uint64_t from = 0, to = 0; ///< ns on the clock of the trace: what is summed up
  uint64_t recorded = 0;     ///< ns of that; with --control those in which a region was open
  uint64_t events = 0;
  uint64_t lost = 0;      ///< events that were lost on all CPUs
  uint64_t forgotten = 0; ///< by a flight recorder
  bool lost_more = false; ///< records are missing: it is not known how many events beside
};

} // namespace ovnitrace
