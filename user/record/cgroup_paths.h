// SPDX-License-Identifier: BSD-2-Clause
// Numbers the cgroups of a capture and keeps their paths.
#pragma once

#include <ovnitrace/capture.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace ovnitrace {

/// The cgroups that threads were met in, in bounded memory. One thread numbers them, and others may
/// ask for paths().
class CgroupPaths {
public:
  static constexpr size_t kMost = 65536; ///< further ones have the number 0

  /// Returns the number of a cgroup, from 1 on; 0 for key 0. The next new one has the next number.
  uint32_t number(uint64_t key);
  /// `message`: a cgroup_record as the ring has it, of `bytes`.
  void take(const void *message, size_t bytes);
  /// Returns the paths by number less 1, printable; empty where none is known. "…" stands for first
  /// parts that are missing.
  std::vector<std::string> paths() const;

private:
  mutable std::mutex mutex_;
  std::unordered_map<uint64_t, uint32_t> numbers_; ///< by key
  std::vector<std::string> paths_;
};

} // namespace ovnitrace
