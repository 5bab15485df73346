// SPDX-License-Identifier: BSD-2-Clause
// What each thread and each CPU did, in numbers.
#pragma once

#include "emulator/format/thread_state.h"
#include "emulator/summary/latency_histogram.h"

#include <array>
#include <cstdint>
#include <vector>

namespace ovnitrace {

struct ThreadSummary {
  /// ns in each state, by ThreadState. What is before its birth and behind its end is not counted.
  std::array<uint64_t, kThreadStates> time{};
  uint64_t preempted = 0;   ///< lost its CPU to another while runnable
  uint64_t yielded = 0;     ///< gave its CPU up while runnable
  uint64_t voluntary = 0;   ///< left its CPU to wait, or for ever
  uint64_t wakeups = 0;     ///< became runnable
  uint64_t migrations = 0;  ///< was put on another CPU
  LatencyHistogram latency; ///< from woken to Running, ns

  uint64_t running() const { return time[size_t(ThreadState::Running)]; }
  /// ns that it was there, in whichever state.
  uint64_t alive() const;
  /// All times that it left its CPU. Linux counts the first two together as involuntary.
  uint64_t switches() const { return preempted + yielded + voluntary; }
};

struct CpuSummary {
  uint64_t busy = 0;      ///< ns in which a thread of the trace was Running on it
  uint64_t switches = 0;  ///< times that a thread of the trace got it
  uint64_t lost = 0;      ///< events that were lost on it
  uint64_t unknown = 0;   ///< ns of its blackouts
  bool lost_more = false; ///< records are missing: it is not known how many events beside
};

struct Summary {
  std::vector<ThreadSummary> threads; ///< by index in the Catalog
  std::vector<CpuSummary> cpus;       ///< by index in the Catalog
  uint64_t events = 0;
  uint64_t lost = 0;      ///< events that were lost on all CPUs
  uint64_t forgotten = 0; ///< by a flight recorder
  bool lost_more = false; ///< records are missing: it is not known how many events beside
};

} // namespace ovnitrace
