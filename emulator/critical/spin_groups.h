// SPDX-License-Identifier: BSD-2-Clause
// Which threads may wait for one another without blocking.
#pragma once

#include "emulator/input/source.h"

#include <cstdint>
#include <vector>

namespace ovnitrace {

/// Threads that share memory as far as a trace can say so: those of one process, and of processes
/// that one traced process has made, as the ranks of an MPI job.
class SpinGroups {
public:
  explicit SpinGroups(const Catalog &catalog);

  /// The one thread of the group of `thread`, beside itself, for which `is(index)` holds. kNone:
  /// there is none, or more than one, or the group has more than 1024 threads.
  template <class Is> uint32_t only_other(uint32_t thread, Is is) const {
    const std::vector<uint32_t> &group = groups_[group_of_[thread]];
    uint32_t found = kNone;
    if (group.size() > kMostThreads)
      return kNone;
    for (const uint32_t other : group) {
      if (other == thread || !is(other))
        continue;
      if (found != kNone)
        return kNone;
      found = other;
    }
    return found;
  }

private:
  static constexpr size_t kMostThreads = 1024;

  std::vector<uint32_t> group_of_; ///< by thread: index into groups_
  std::vector<std::vector<uint32_t>> groups_;
};

} // namespace ovnitrace
