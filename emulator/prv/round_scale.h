// SPDX-License-Identifier: BSD-2-Clause
// Where the scale of a gradient ends, so that one value out of the way does not make all others
// look the same.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ovnitrace {

/// Counts values by the round numbers 1, 2, 5, 10, 20, …, in fixed memory.
class RoundScale {
public:
  /// Values that are not positive are background, and do not count.
  void add(int64_t value);

  bool empty() const { return count_ == 0; }
  /// The least round number that at least 95 of 100 values do not exceed; 0 if there are none.
  uint64_t common() const;
  int64_t largest() const { return largest_; } ///< 0 if there are none

private:
  static constexpr size_t kRounds = 3 * 19; // up to 5 · 10^18: the last one takes the rest
  std::array<uint64_t, kRounds> counts_{};
  uint64_t count_ = 0;
  int64_t largest_ = 0;
};

} // namespace ovnitrace
