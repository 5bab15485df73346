// SPDX-License-Identifier: BSD-2-Clause
// Describes this machine, for trace.json.
#pragma once

#include "emulator/input/source.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ovnitrace {

struct CpuTopology {
  uint32_t cpu = 0;
  int package = -1; ///< -1: not known
  int core = -1;
  int node = -1; ///< NUMA node
};

struct Host {
  std::string name, kernel, machine;
  std::vector<CpuTopology> cpus; ///< those that are present
};

/// Returns whether the CPU exists, and is not only one that could be plugged in.
bool cpu_is_present(uint32_t cpu);

Host describe_host(uint32_t possible_cpus);

/// Returns the kernel's names of the CPUs' idle states, by number: "POLL", "C1", …. A state that
/// differs between CPUs has an empty name. Empty without cpuidle.
std::vector<std::string> idle_state_names(const Host &host);

/// Names those of `numbers` that are not 0 and that the kernel lists in /proc/diskstats.
std::vector<DeviceName> named_devices(std::span<const uint32_t> numbers);

} // namespace ovnitrace
