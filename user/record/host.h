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
  std::string boot_id = {};           ///< the kernel's, one for each machine and boot
  std::vector<CpuTopology> cpus = {}; ///< those that were online, by number
};

bool cpu_is_online(uint32_t cpu);

/// Describes this machine and the CPUs that are online now.
Host describe_host(uint32_t possible_cpus);
/// Adds the CPUs that have come online since: those with records. `records`: by CPU.
void add_later_cpus(Host &host, std::span<const uint64_t> records);

/// Returns the kernel's names of the CPUs' idle states, by number: "POLL", "C1", …. A state that
/// differs between CPUs has an empty name. Empty without cpuidle.
std::vector<std::string> idle_state_names(const Host &host);

/// Names those of `numbers` that are not 0 and that the kernel lists in /proc/diskstats.
std::vector<DeviceName> named_devices(std::span<const uint32_t> numbers);

} // namespace ovnitrace
