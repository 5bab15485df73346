// SPDX-License-Identifier: BSD-2-Clause
// Collects the cgroups that a thread was in, in any order of time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ovnitrace {

/// Since when a thread is in a cgroup.
struct SinceCgroup {
  uint64_t since = 0;  ///< ns; 0: before the capture
  uint32_t cgroup = 0; ///< the number of the trace or, in ThreadInfo, an index
  bool operator==(const SinceCgroup &) const = default;
};

/// A reader ignores larger numbers of cgroups.
inline constexpr size_t kMostCgroups = 65536;

class CgroupHistory {
public:
  /// Further changes of a thread are left out.
  static constexpr size_t kMost = 1000;

  /// Notes that the thread is in a cgroup since a time.
  void add(const SinceCgroup &known);
  void join(const CgroupHistory &other);
  /// Returns what is known by time, without changes to the same cgroup.
  std::vector<SinceCgroup> changes() const;

private:
  std::vector<SinceCgroup> all_; ///< by time
};

} // namespace ovnitrace
