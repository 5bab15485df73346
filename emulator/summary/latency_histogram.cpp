// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/summary/latency_histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace ovnitrace {

namespace {

constexpr unsigned kBits = 5; // 2^5 buckets in a power of two
constexpr uint64_t kSub = 1 << kBits;

/// The values of 2^(kBits + shift) … are divided into buckets 2^shift wide.
size_t bucket_of(uint64_t ns) {
  if (ns < kSub)
    return size_t(ns);
  const unsigned shift = unsigned(std::bit_width(ns)) - 1 - kBits;
  return size_t((shift + 1) * kSub + (ns >> shift) - kSub);
}

uint64_t middle_of(size_t bucket) {
  if (bucket < kSub)
    return bucket;
  const unsigned shift = unsigned(bucket / kSub) - 1;
  return ((bucket % kSub + kSub) << shift) + ((uint64_t(1) << shift) >> 1);
}

} // namespace

void LatencyHistogram::add(uint64_t ns) {
  const size_t bucket = bucket_of(ns);
  if (buckets_.size() <= bucket)
    buckets_.resize(bucket + 1);
  buckets_[bucket] += buckets_[bucket] != UINT32_MAX;
  count_++;
  max_ = std::max(max_, ns);
}

void LatencyHistogram::add(const LatencyHistogram &other) {
  if (buckets_.size() < other.buckets_.size())
    buckets_.resize(other.buckets_.size());
  for (size_t bucket = 0; bucket < other.buckets_.size(); bucket++)
    buckets_[bucket] += std::min(other.buckets_[bucket], UINT32_MAX - buckets_[bucket]);
  count_ += other.count_;
  max_ = std::max(max_, other.max_);
}

uint64_t LatencyHistogram::percentile(double percent) const {
  const uint64_t rank = std::max<uint64_t>(1, uint64_t(std::ceil(double(count_) * percent / 100)));
  if (rank >= count_)
    return max_;
  uint64_t seen = 0;
  for (size_t bucket = 0; bucket < buckets_.size(); bucket++) {
    seen += buckets_[bucket];
    if (seen >= rank)
      return std::min(middle_of(bucket), max_);
  }
  return max_;
}

} // namespace ovnitrace
