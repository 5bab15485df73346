// SPDX-License-Identifier: BSD-2-Clause
// Durations of which percentiles are asked, in bounded memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ovnitrace {

/// A log-linear histogram: each power of two is divided into 32 buckets of equal width, so that a
/// percentile is off by at most 1/64 of its value; below 32 it is exact. At most 60 * 32 buckets,
/// and no more than lie between the smallest value and the largest.
class LatencyHistogram {
public:
  void add(uint64_t ns);
  /// All that another one holds.
  void add(const LatencyHistogram &other);

  uint64_t count() const { return count_; }
  uint64_t max() const { return max_; } ///< exact; 0 if there is none

  /// The smallest duration that `percent` (0 … 100) of all do not exceed; 0 if there is none.
  uint64_t percentile(double percent) const;

private:
  /// That it has the buckets [from, to).
  void make_room(size_t from, size_t to);

  size_t first_ = 0;              ///< the bucket that buckets_ starts with
  std::vector<uint32_t> buckets_; ///< a thread each: small; they stop counting at their maximum
  uint64_t count_ = 0;
  uint64_t max_ = 0;
};

} // namespace ovnitrace
