// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/diff/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <numeric>

namespace ovnitrace {

namespace {

constexpr size_t kMostExact = 40; ///< values of both samples together

/// Returns how many subsets of `size` ranks have each sum, by the sum.
std::vector<double> sums_of_subsets(const std::vector<uint32_t> &ranks, size_t size) {
  const size_t most = std::accumulate(ranks.begin(), ranks.end(), size_t(0));
  std::vector<std::vector<double>> ways(size + 1, std::vector<double>(most + 1));
  ways[0][0] = 1;
  for (const uint32_t rank : ranks)
    for (size_t n = size; n > 0; n--)
      for (size_t sum = most; sum + 1 > rank; sum--)
        ways[n][sum] += ways[n - 1][sum - rank];
  return ways[size];
}

/// Returns twice the rank of each value, so that equal values can share their mean rank.
std::vector<uint32_t> doubled_ranks(const std::vector<double> &values) {
  std::vector<uint32_t> order(values.size()), ranks(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](uint32_t a, uint32_t b) { return values[a] < values[b]; });
  for (size_t from = 0, to; from < order.size(); from = to) {
    for (to = from; to < order.size() && values[order[to]] == values[order[from]];)
      to++;
    for (size_t n = from; n < to; n++)
      ranks[order[n]] = uint32_t(from + 1 + to);
  }
  return ranks;
}

/// Returns the share of all divisions whose sum of ranks is at least as far from the mean.
double exact_p(const std::vector<uint32_t> &ranks, size_t first, uint64_t sum) {
  const std::vector<double> ways = sums_of_subsets(ranks, first);
  const auto mean = int64_t(first * (ranks.size() + 1));
  const int64_t distance = std::abs(int64_t(sum) - mean);
  double far = 0, all = 0;
  for (size_t n = 0; n < ways.size(); n++) {
    all += ways[n];
    far += std::abs(int64_t(n) - mean) >= distance ? ways[n] : 0;
  }
  return far / all;
}

/// Returns the same by the normal distribution.
double normal_p(const std::vector<uint32_t> &ranks, size_t first, uint64_t sum) {
  const auto all = double(ranks.size()), n = double(first), mean = n * (all + 1) / 2;
  double squares = 0;
  for (const uint32_t rank : ranks)
    squares += (rank / 2.0 - (all + 1) / 2) * (rank / 2.0 - (all + 1) / 2);
  const double deviation = std::sqrt(n * (all - n) / (all * (all - 1)) * squares);
  if (deviation == 0)
    return 1;
  const double distance = std::max(0.0, std::abs(double(sum) / 2 - mean) - 0.5);
  return std::erfc(distance / deviation / std::sqrt(2.0));
}

/// Returns how many of the sorted differences lie below the interval, plus 1; 0: none may.
size_t count_outside(size_t first, size_t second) {
  const double n = double(first), m = double(second);
  if (first + second > kMostExact) {
    constexpr double kQuantile = 2.575829303548901; // of 1 - kLevel / 2
    const double at = n * m / 2 - kQuantile * std::sqrt(n * m * (n + m + 1) / 12);
    return at < 1 ? 0 : size_t(at);
  }
  std::vector<uint32_t> ranks(first + second);
  std::iota(ranks.begin(), ranks.end(), 1);
  const std::vector<double> ways = sums_of_subsets(ranks, first);
  const double all = std::accumulate(ways.begin(), ways.end(), 0.0);
  const size_t least = first * (first + 1) / 2;
  size_t outside = 0;
  for (double below = ways[least]; below / all <= kLevel / 2; below += ways[least + outside])
    outside++;
  return outside;
}

} // namespace

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

double least_p(size_t first, size_t second) {
  double ways = 1;
  for (size_t n = 1; n <= first; n++)
    ways *= double(second + n) / double(n);
  return (first == second ? 2 : 1) / ways; // with equal sizes, the opposite is as far
}

RankTest::RankTest(size_t first, size_t second)
    : first_(first), second_(second), outside_(count_outside(first, second)) {}

Shift RankTest::compare(const std::vector<double> &first, const std::vector<double> &second) const {
  std::vector<double> differences, values = first;
  for (const double a : first)
    for (const double b : second)
      differences.push_back(b - a);
  std::sort(differences.begin(), differences.end());
  Shift shift{.estimate = median(differences)};
  if (can_show())
    shift.interval = {differences[outside_ - 1], differences[differences.size() - outside_]};
  values.insert(values.end(), second.begin(), second.end());
  const std::vector<uint32_t> ranks = doubled_ranks(values);
  const uint64_t sum =
      std::accumulate(ranks.begin(), ranks.begin() + ptrdiff_t(first_), uint64_t(0));
  shift.p =
      first_ + second_ > kMostExact ? normal_p(ranks, first_, sum) : exact_p(ranks, first_, sum);
  return shift;
}

} // namespace ovnitrace
