// SPDX-License-Identifier: BSD-2-Clause
// Collects durations and returns their percentiles, in bounded memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ovnitrace {

/// A log-linear histogram: each power of two has 32 buckets of equal width, so a percentile is off
/// by at most 1/64 of its value. Values below 32 are exact. There are at most 60 * 32 buckets, and
/// only those between the smallest and the largest value.
class LatencyHistogram {
public:
  void add(uint64_t ns);
  /// Adds all durations of another one.
  void add(const LatencyHistogram &other);

  uint64_t count() const { return count_; }
  uint64_t max() const { return max_; } ///< exact; 0 if empty
  uint64_t sum() const { return sum_; } ///< exact, ns
  /// Returns how many durations are shorter than 2^`bits` ns.
  uint64_t below(unsigned bits) const;

  /// Returns the smallest duration that `percent` (0 … 100) of all do not exceed; 0 if empty.
  uint64_t percentile(double percent) const;

private:
  /// Makes sure that it has the buckets [from, to).
  void make_room(size_t from, size_t to);

  size_t first_ = 0; ///< the first bucket in buckets_
  /// Small, as each thread has some; a bucket stops counting at its maximum.
  std::vector<uint32_t> buckets_;
  uint64_t count_ = 0;
  uint64_t max_ = 0, sum_ = 0;
};

} // namespace ovnitrace
