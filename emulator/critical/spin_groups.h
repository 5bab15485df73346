// SPDX-License-Identifier: BSD-2-Clause
// Finds the thread for which a spinning thread waits.
#pragma once

#include "emulator/input/source.h"

#include <cstdint>
#include <vector>

namespace ovnitrace {

/// Groups of threads that may wait for one another without blocking. Those are the threads of one
/// process, and of processes that one traced process made, such as the ranks of an MPI job.
class SpinGroups {
public:
  explicit SpinGroups(const Catalog &catalog);

  /// Returns the only other thread of the group of `thread` for which `is(index)` holds. Returns
  /// kNone if no thread or several match, or if the group has more than 1024 threads.
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
