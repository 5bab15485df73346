// SPDX-License-Identifier: BSD-2-Clause
// Adds up the intervals of `ovnitrace top` as counters for Prometheus.
#pragma once

#include "emulator/slices/idle_causes.h"
#include "emulator/summary/counters.h"
#include "emulator/top/top_part.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace ovnitrace {

/// The counters of all threads whose processes have one name and which are in one group: container,
/// unit or cgroup. Memory: at most kMostGroups groups. Later groups are counted together.
class Metrics {
public:
  static constexpr size_t kMostGroups = 500;

  /// Adds an interval. Intervals must not overlap.
  void add(const TopPart &part);
  /// Returns everything in the text format of Prometheus, version 0.0.4
  /// (https://prometheus.io/docs/instrumenting/exposition_formats/). docs/top.md lists the metrics.
  std::string text() const;

private:
  /// Wakeup latencies are counted up to 2^10, 2^12, … 2^30 ns.
  static constexpr unsigned kFirstBound = 10, kLastBound = 30, kBoundStep = 2;
  static constexpr size_t kBounds = (kLastBound - kFirstBound) / kBoundStep + 1;

  static constexpr std::array kStates = {"running", "preempted", "throttled",
                                         "woken",   "blocked",   "unknown"};

  struct Counts {
    std::array<uint64_t, kStates.size()> states = {}; ///< ns
    ThreadCounters counters;
    IdleTimes idle;
    std::array<uint64_t, kBounds> latencies = {}; ///< how many were shorter than each bound
    uint64_t latency_count = 0, latency_sum = 0;  ///< sum in ns
  };
  using Group = std::pair<std::string, std::string>; ///< names of process and group

  Counts &of(Group group);

  std::map<Group, Counts> groups_;
  std::map<uint32_t, uint64_t> busy_; ///< ns, by number of the CPU
  uint64_t observed_ = 0;             ///< ns
  uint64_t events_ = 0, lost_ = 0;
  bool idle_known_ = false; ///< the capture sees whether CPUs are idle
};

} // namespace ovnitrace
