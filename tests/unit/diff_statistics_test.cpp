// SPDX-License-Identifier: BSD-2-Clause
// The statistics of `ovnitrace diff` against a model that counts every way to divide the values.
#include "emulator/diff/statistics.h"
#include "tests/unit/support/cases.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>

namespace ovnitrace {
namespace {

using Values = std::vector<double>;

/// Returns U of the first sample: how often one of its values is above one of the second, ties
/// half.
double u_of(const Values &first, const Values &second) {
  double u = 0;
  for (const double a : first)
    for (const double b : second)
      u += a > b ? 1 : a == b ? 0.5 : 0;
  return u;
}

/// Returns the share of all divisions of the values into two samples whose U is at least as far
/// from its mean.
double brute_p(const Values &first, const Values &second) {
  Values all = first;
  all.insert(all.end(), second.begin(), second.end());
  const double mean = double(first.size() * second.size()) / 2;
  const double distance = std::abs(u_of(first, second) - mean);
  double far = 0, count = 0;
  for (uint32_t mask = 0; mask < 1u << all.size(); mask++) {
    if (size_t(std::popcount(mask)) != first.size())
      continue;
    Values a, b;
    for (size_t n = 0; n < all.size(); n++)
      (mask >> n & 1 ? a : b).push_back(all[n]);
    count++;
    far += std::abs(u_of(a, b) - mean) >= distance;
  }
  return far / count;
}

Values random_values(std::mt19937 &random, size_t count, unsigned kinds) {
  Values values;
  for (size_t n = 0; n < count; n++)
    values.push_back(double(random() % kinds));
  return values;
}

Values moved(Values values, double by) {
  for (double &value : values)
    value += by;
  return values;
}

TEST(DiffStatistics, TheTestCountsAllDivisionsAlsoWithTies) {
  std::mt19937 random(1);
  size_t ties = 0, shown = 0;
  for (unsigned round = 0; round < test::cases(150); round++) {
    const size_t n = 1 + random() % 6, m = 1 + random() % 6;
    const Values a = random_values(random, n, round % 3 ? 1u << 30 : 4);
    const Values b = moved(random_values(random, m, round % 3 ? 1u << 30 : 4), round % 2   ? 0
                                                                               : round % 3 ? 1e9
                                                                                           : 3);
    const Shift shift = RankTest(n, m).compare(a, b);
    ASSERT_NEAR(shift.p, brute_p(a, b), 1e-12) << "round " << round;
    ties += round % 3 == 0;
    shown += shift.p <= kLevel;
  }
  EXPECT_GT(ties, 40u);
  EXPECT_GT(shown, 2u);
}

TEST(DiffStatistics, TheIntervalHoldsTheShiftsThatTheTestDoesNotRefuse) {
  std::mt19937 random(2);
  size_t narrow = 0;
  for (unsigned round = 0; round < test::cases(100); round++) {
    const size_t n = 4 + random() % 5, m = 4 + random() % 5;
    const Values a = random_values(random, n, 1u << 30), b = random_values(random, m, 1u << 30);
    const RankTest test(n, m);
    const Shift shift = test.compare(a, b);
    Values differences;
    for (const double x : a)
      for (const double y : b)
        differences.push_back(y - x);
    EXPECT_EQ(shift.estimate, median(differences));
    ASSERT_EQ(shift.interval.has_value(), test.can_show());
    if (!shift.interval)
      continue;
    const auto [low, high] = *shift.interval;
    EXPECT_GT(test.compare(a, moved(b, -(low + 0.5))).p, kLevel);
    EXPECT_LE(test.compare(a, moved(b, -(low - 0.5))).p, kLevel);
    EXPECT_GT(test.compare(a, moved(b, -(high - 0.5))).p, kLevel);
    EXPECT_LE(test.compare(a, moved(b, -(high + 0.5))).p, kLevel);
    narrow += low > *std::min_element(differences.begin(), differences.end());
  }
  EXPECT_GT(narrow, 40u);
}

TEST(DiffStatistics, FewRunsShowNothing) {
  EXPECT_FALSE(RankTest(1, 1).can_show());
  EXPECT_FALSE(RankTest(4, 4).can_show()) << "1 of 35 divisions is as far apart: 2.9 %";
  EXPECT_TRUE(RankTest(5, 5).can_show());
  EXPECT_FALSE(RankTest(2, 18).can_show());
  EXPECT_TRUE(RankTest(3, 30).can_show());
  EXPECT_EQ(RankTest(1, 1).compare({3}, {10}).estimate, 7);
  EXPECT_EQ(RankTest(1, 1).compare({3}, {10}).p, 1);
}

TEST(DiffStatistics, ManyRunsAreNearTheExactTest) {
  std::mt19937 random(3);
  for (unsigned round = 0; round < test::cases(20); round++) {
    const Values a = random_values(random, 20, 1000);
    const Values b = moved(random_values(random, 20, 1000), 150);
    const double exact = RankTest(20, 20).compare(a, b).p;
    Values more = b; // the 41st value, in the middle of all, hardly changes the result
    more.push_back(median(a) / 2 + median(b) / 2);
    EXPECT_NEAR(RankTest(20, 21).compare(a, more).p, exact, 0.02 + exact / 3);
  }
}

/// Returns `count` values, `step` apart.
Values row(size_t count, double first, double step = 1) {
  Values values;
  for (size_t n = 0; n < count; n++)
    values.push_back(first + step * double(n));
  return values;
}

TEST(DiffStatistics, FortyValuesAreTestedExactlyAndMoreByTheNormalDistribution) {
  const Values low = row(20, 0);
  EXPECT_NEAR(RankTest(20, 20).compare(low, row(20, 100)).p / least_p(20, 20), 1, 1e-9);
  EXPECT_NEAR(RankTest(20, 21).compare(low, row(21, 100)).p, 4.650395086620366e-08, 1e-18);
}

TEST(DiffStatistics, TheNormalDistributionIsCorrectedForContinuityAndTies) {
  EXPECT_NEAR(RankTest(21, 20).compare(row(21, 0), row(20, 6.5)).p, 0.006419021853513674, 1e-12);
  Values a, b;
  for (int value = 0; value < 8; value++)
    a.insert(a.end(), 3, value);
  for (int value = 3; value < 8; value++)
    b.insert(b.end(), 4, value);
  EXPECT_NEAR(RankTest(24, 20).compare(a, b).p, 0.0330413125871345, 1e-12);
  EXPECT_EQ(RankTest(21, 21).compare(row(21, 0), row(21, 0)).p, 1) << "nothing is more alike";
}

TEST(DiffStatistics, TheIntervalLeavesOutAsManyDifferencesAsTheTestAllows) {
  using Interval = std::pair<double, double>;
  const auto interval = [](size_t n, size_t m) {
    return RankTest(n, m).compare(row(n, 0, 1000), row(m, 0)).interval.value();
  };
  EXPECT_EQ(interval(20, 20), Interval(-13995, -4986)); // 106 of 400: of these, 105 on each side
  EXPECT_EQ(interval(21, 20), Interval(-14990, -4991)); // 111 of 420
  EXPECT_FALSE(RankTest(2, 60).can_show());
}

TEST(DiffStatistics, EqualRunsDifferInNothing) {
  const Shift shift = RankTest(6, 6).compare(Values(6, 5), Values(6, 5));
  EXPECT_EQ(shift.p, 1);
  EXPECT_EQ(shift.estimate, 0);
  EXPECT_EQ(RankTest(30, 30).compare(Values(30, 5), Values(30, 5)).p, 1);
}

TEST(DiffStatistics, TheMedianOfAnEvenNumberIsTheMeanOfTheMiddle) {
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
  EXPECT_EQ(median({9, 1, 5}), 5);
}

TEST(DiffStatistics, NoSamplesHaveASmallerPThanTheSmallest) {
  for (size_t first = 1; first <= 6; first++)
    for (size_t second = 1; second <= 6; second++)
      EXPECT_NEAR(least_p(first, second), brute_p(Values(first, 1), Values(second, 2)), 1e-12)
          << first << " " << second;
}

} // namespace
} // namespace ovnitrace
