// SPDX-License-Identifier: BSD-2-Clause
// Says which threads of a program, of processes or of the machine are recorded: the filters of
// `record`. A thread is recorded while it passes each filter that is given.
#pragma once

#include "user/select/cgroup_tree.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ovnitrace {

/// An empty list or false: the filter is not given.
struct Selection {
  std::vector<uint32_t> tids;             ///< -t, as this process counts threads
  std::vector<std::string> comms;         ///< patterns of --comm
  std::vector<std::string> refused_comms; ///< and of --no-comm
  std::vector<uint32_t> uids;             ///< --uid
  std::vector<uint32_t> cpus;             ///< --cpu
  std::vector<uint32_t> refused_cpus;     ///< --no-cpu
  std::vector<CgroupChoice> cgroups;      ///< --cgroup, --unit and --container, each a filter value
  bool no_kernel_threads = false;         ///< --no-kthreads
  std::vector<std::string> asked;         ///< the options as they were given, for messages

  bool any() const { return !asked.empty(); }
};

} // namespace ovnitrace
