// SPDX-License-Identifier: BSD-2-Clause
// Finds the end of a gradient's scale, so that one large value does not make all others look equal.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ovnitrace {

/// Counts values between the round numbers 1, 2, 5, 10, 20, …, in fixed memory.
class RoundScale {
public:
  /// Adds a value. Values up to 0 are background and do not count.
  void add(int64_t value);

  bool empty() const { return count_ == 0; }
  /// Returns the least round number that at least 95 % of the values do not exceed; 0 without
  /// values.
  uint64_t common() const;
  int64_t largest() const { return largest_; } ///< 0 without values

private:
  static constexpr size_t kRounds = 3 * 19; // up to 5 · 10^18; the last one takes the rest
  std::array<uint64_t, kRounds> counts_{};
  uint64_t count_ = 0;
  int64_t largest_ = 0;
};

} // namespace ovnitrace
