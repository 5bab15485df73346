// SPDX-License-Identifier: BSD-2-Clause
// The median of measurements, and how far it can be believed.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

/// The median, and an interval that holds the true one with a probability of 95 %, whatever the
/// distribution: two order statistics, whose ranks follow from the binomial distribution.
struct Interval {
  double median = NAN, low = NAN, high = NAN;
  size_t count = 0; ///< measurements; below 6 no interval of 95 % exists, and it is their range
  double half_width() const { return (high - low) / 2; }
};

inline Interval interval_of(std::vector<double> values) {
  Interval made;
  made.count = values.size();
  if (values.empty())
    return made;
  std::sort(values.begin(), values.end());
  const size_t n = values.size(), middle = n / 2;
  made.median = n % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  // The most ranks that can be left out at each end: P(Binomial(n, 1/2) < rank) <= 2.5 %.
  double tail = 0, term = std::pow(0.5, double(n));
  size_t rank = 0;
  while (tail + term <= 0.025) {
    tail += term;
    term *= double(n - rank) / double(rank + 1);
    rank++;
  }
  rank = rank ? rank - 1 : 0;
  made.low = values[rank];
  made.high = values[n - 1 - rank];
  return made;
}
