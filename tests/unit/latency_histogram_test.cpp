// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/summary/latency_histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace ovnitrace {
namespace {

TEST(LatencyHistogram, IsExactForSmallValuesAndTheMaximum) {
  LatencyHistogram histogram;
  EXPECT_EQ(histogram.percentile(50), 0u);
  for (uint64_t ns = 0; ns < 32; ns++)
    histogram.add(ns);
  EXPECT_EQ(histogram.percentile(50), 15u);
  EXPECT_EQ(histogram.percentile(0), 0u);
  EXPECT_EQ(histogram.percentile(100), 31u);
  histogram.add(UINT64_MAX);
  EXPECT_EQ(histogram.max(), UINT64_MAX);
  EXPECT_EQ(histogram.percentile(100), UINT64_MAX);
  EXPECT_EQ(histogram.count(), 33u);
}

TEST(LatencyHistogram, CountsExactlyBelowPowersOfTwoAndSumsUp) {
  std::mt19937_64 random(4);
  LatencyHistogram histogram, half;
  std::vector<uint64_t> values = {31, 32, 1023, 1024, 1025};
  for (size_t i = 0; i < 500; i++)
    values.push_back(random() >> (8 + random() % 56));
  uint64_t sum = 0;
  for (size_t i = 0; i < values.size(); i++) {
    (i % 2 ? half : histogram).add(values[i]);
    sum += values[i];
  }
  EXPECT_EQ(LatencyHistogram().below(40), 0u);
  histogram.add(half);
  EXPECT_EQ(histogram.sum(), sum);
  for (unsigned bits = 5; bits < 60; bits++)
    EXPECT_EQ(histogram.below(bits),
              uint64_t(std::count_if(values.begin(), values.end(),
                                     [&](uint64_t ns) { return ns < uint64_t(1) << bits; })))
        << bits;
}

TEST(LatencyHistogram, IsOffByAtMostOne64thOfTheValue) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 200; round++) {
    LatencyHistogram histogram;
    std::vector<uint64_t> values;
    for (size_t i = 0; i < 1 + random() % 500; i++) {
      values.push_back(random() >> (random() % 64)); // of every magnitude
      histogram.add(values.back());
    }
    std::sort(values.begin(), values.end());
    for (double percent : {0.0, 1.0, 50.0, 90.0, 99.0, 100.0}) {
      const size_t rank = size_t(std::ceil(double(values.size()) * percent / 100));
      const uint64_t exact = values[std::max<size_t>(rank, 1) - 1];
      const uint64_t found = histogram.percentile(percent);
      const uint64_t off = found > exact ? found - exact : exact - found;
      ASSERT_LE(off, exact / 64) << percent << " % of " << values.size() << ": " << exact;
    }
  }
}

// The values of one are below, among and above those of the other.
TEST(LatencyHistogram, ASumEqualsTheHistogramOfAllValues) {
  const std::vector<std::vector<uint64_t>> sets = {
      {}, {3}, {7, 7, 500, 600}, {7, 550, 1'000'000}, {40'000'000'000, 50'000'000'000}};
  for (const std::vector<uint64_t> &one : sets)
    for (const std::vector<uint64_t> &two : sets) {
      LatencyHistogram first, second, both;
      for (const uint64_t ns : one)
        first.add(ns), both.add(ns);
      for (const uint64_t ns : two)
        second.add(ns), both.add(ns);
      first.add(second);
      EXPECT_EQ(first.count(), one.size() + two.size());
      EXPECT_EQ(first.max(), both.max());
      for (const double percent : {1.0, 25.0, 50.0, 75.0, 90.0, 100.0})
        EXPECT_EQ(first.percentile(percent), both.percentile(percent))
            << one.size() << " and " << two.size() << ": " << percent;
      EXPECT_EQ(second.count(), two.size()) << "it is not changed";
    }
  LatencyHistogram twice;
  for (int n = 0; n < 3; n++)
    twice.add(10);
  LatencyHistogram slow;
  slow.add(20), slow.add(20), slow.add(20), slow.add(20);
  twice.add(slow);
  EXPECT_EQ(twice.percentile(42), 10u) << "3 of 7";
  EXPECT_EQ(twice.percentile(43), 20u);
}

TEST(LatencyHistogram, ABucketIsNamedByItsMiddle) {
  LatencyHistogram histogram;
  for (const uint64_t ns : {31u, 64u, 65u, 1000u, 100'000u})
    histogram.add(ns);
  EXPECT_EQ(histogram.percentile(20), 31u) << "exact below 32";
  EXPECT_EQ(histogram.percentile(40), 65u) << "64 and 65 are one bucket";
  EXPECT_EQ(histogram.percentile(60), 65u);
  EXPECT_EQ(histogram.percentile(80), 1000u) << "992 to 1007";
}

} // namespace
} // namespace ovnitrace
