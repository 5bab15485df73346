// SPDX-License-Identifier: BSD-2-Clause
// A cgroup with a quota of CPU time, removed after the test.
#pragma once

#include <cstdint>
#include <string>

namespace ovnitrace::test {

/// A cgroup, of version 1 or 2, that may use some CPU time in each period. Times are in us.
class Quota {
public:
  explicit Quota(unsigned time = 10'000, unsigned period = 100'000);
  ~Quota();
  Quota(const Quota &) = delete;
  Quota &operator=(const Quota &) = delete;

  const std::string &path() const { return path_; } ///< empty: there is none
  std::string procs() const { return path_ + "/cgroup.procs"; }
  /// Makes a cgroup in it, without a quota of its own, and returns its path. At most once.
  const std::string &make_inner();
  /// Returns in how many periods the kernel throttled the cgroup.
  uint64_t throttled() const { return stat("nr_throttled"); }
  /// Returns for how long the kernel throttled it, in ns.
  uint64_t throttled_ns() const;

private:
  uint64_t stat(const std::string &name) const;
  bool make(const std::string &path);
  void remove();

  std::string path_, inner_;
};

} // namespace ovnitrace::test
