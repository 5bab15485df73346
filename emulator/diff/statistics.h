// SPDX-License-Identifier: BSD-2-Clause
// Compares two samples: the shift between them, its interval, and whether a difference is shown.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace ovnitrace {

/// A difference is shown if it would be as large by chance in at most this share of cases.
inline constexpr double kLevel = 0.01;

/// Returns the median. REQUIRES: there is a value.
double median(std::vector<double> values);

/// Returns the smallest p that samples of these sizes can have, with equal values or without.
double least_p(size_t first, size_t second);

/// What two samples say about the distance between what they were drawn from.
struct Shift {
  double estimate = 0; ///< Hodges-Lehmann: the median of all differences, second less first
  /// Contains the true shift in 1 - kLevel of cases. Absent: there are too few values.
  std::optional<std::pair<double, double>> interval = {};
  double p = 1; ///< of the two-sided Mann-Whitney test
};

/// Compares samples of fixed sizes. Tests are exact up to 40 values together, by counting all ways
/// to divide them; beyond that they use the normal distribution. Equal values share their ranks.
class RankTest {
public:
  /// The sizes of the samples, at least 1 each.
  RankTest(size_t first, size_t second);

  /// Returns whether any values of these sizes could show a difference.
  bool can_show() const { return outside_ > 0; }
  /// REQUIRES: the sizes are those of the constructor.
  Shift compare(const std::vector<double> &first, const std::vector<double> &second) const;

private:
  size_t first_, second_;
  size_t outside_ = 0; ///< differences on each side that are outside the interval, plus 1; 0: none
};

} // namespace ovnitrace
