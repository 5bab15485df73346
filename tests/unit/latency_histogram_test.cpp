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

} // namespace
} // namespace ovnitrace
