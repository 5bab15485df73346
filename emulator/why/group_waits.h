// SPDX-License-Identifier: BSD-2-Clause
// Divides the time that threads waited for a CPU by groups: containers, units or cgroups.
#pragma once

#include "emulator/why/explanation.h"
#include "emulator/why/why_report.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ovnitrace {

/// The time of the threads of a group, ns. A thread belongs to the group in which it was at the end
/// of the range.
struct GroupWaits {
  std::string group; ///< "" if not known
  size_t threads = 0;
  ThreadTime time = {};
  // The parts of time.waiting:
  uint64_t throttled = 0;
  uint64_t same_group = 0;   ///< a thread of the same group had the CPU
  uint64_t other_groups = 0; ///< one of another group
  /// Divides other_groups by group, most time first.
  std::vector<std::pair<std::string, uint64_t>> behind = {};
  uint64_t system = 0; ///< one of the kernel
  uint64_t rest = 0;   ///< the CPU was idle, or it is not known who had it
};

/// Returns the groups of the threads that are shown, the one that waited most first.
std::vector<GroupWaits> group_waits(const Catalog &catalog, const Explanation &why);

/// Returns the lines of the table `--by cgroup`.
std::string group_table(const WhyInput &input, const WhyOptions &options);

} // namespace ovnitrace
