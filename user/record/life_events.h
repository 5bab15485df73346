// SPDX-License-Identifier: BSD-2-Clause
// Takes life events: what happens to threads besides their transitions.
#pragma once

#include "user/chunk/thread_registry.h"
#include "user/record/cgroup_paths.h"
#include "user/record/cpu_stream.h"

#include <ovnitrace/capture.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace ovnitrace {

/// Learns the threads, and gives each event to the CPU that logged it.
class LifeEvents {
public:
  /// The arguments outlive it. `end`, ns: what was logged later is left out.
  LifeEvents(ThreadRegistry &registry, CgroupPaths &cgroups, std::vector<CpuStream> &cpus,
             const std::atomic<uint64_t> &end)
      : registry_(registry), cgroups_(cgroups), cpus_(cpus), end_(end) {}

  /// Sets what is called when a region starts (true) or stops.
  void on_region(std::function<void(bool starts)> call) { on_region_ = std::move(call); }

  void take(life_record record);

  uint64_t regions() const { return regions_; } ///< of --control, that started

private:
  void take_thread(life_record record);
  void move_threads(const life_record &record);
  void take_region(const life_record &record);

  ThreadRegistry &registry_;
  CgroupPaths &cgroups_;
  std::vector<CpuStream> &cpus_;
  const std::atomic<uint64_t> &end_;
  std::function<void(bool starts)> on_region_;
  uint64_t regions_ = 0;
};

} // namespace ovnitrace
