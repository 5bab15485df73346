// SPDX-License-Identifier: BSD-2-Clause
// What machine this is, for trace.json.
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

/// Whether the CPU exists, and not only could be plugged in.
bool cpu_is_present(uint32_t cpu);

Host describe_host(uint32_t possible_cpus);

/// What the kernel calls the idle states of the CPUs, by number: "POLL", "C1", …. One that is not
/// the same on all CPUs has an empty name. Empty where the kernel has no cpuidle.
std::vector<std::string> idle_state_names(const Host &host);

/// Names those of `numbers` that are not 0 and that the kernel lists in /proc/diskstats.
std::vector<DeviceName> named_devices(std::span<const uint32_t> numbers);

} // namespace ovnitrace
