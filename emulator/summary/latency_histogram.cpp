// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/summary/latency_histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace ovnitrace {

namespace {

constexpr unsigned kBits = 5; // 2^5 buckets in a power of two
constexpr uint64_t kSub = 1 << kBits;

/// Returns the bucket of a value. Values from 2^(kBits + shift) on are in buckets 2^shift wide.
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

void LatencyHistogram::make_room(size_t from, size_t to) {
  if (buckets_.empty())
    first_ = from;
  const size_t before = first_ - std::min(from, first_);
  const size_t size = std::max(before + buckets_.size(), to - std::min(from, first_));
  buckets_.reserve(size); // exactly: vectors that grow by half of what they have are mostly empty
  buckets_.insert(buckets_.begin(), before, 0);
  buckets_.resize(size);
  first_ -= before;
}

void LatencyHistogram::add(uint64_t ns) {
  const size_t bucket = bucket_of(ns);
  if (bucket - first_ >= buckets_.size()) // also where it is before the first one
    make_room(bucket, bucket + 1);
  uint32_t &count = buckets_[bucket - first_];
  count += count != UINT32_MAX;
  count_++;
  max_ = std::max(max_, ns);
  sum_ += ns;
}

void LatencyHistogram::add(const LatencyHistogram &other) {
  if (!other.buckets_.empty())
    make_room(other.first_, other.first_ + other.buckets_.size());
  for (size_t n = 0; n < other.buckets_.size(); n++) {
    uint32_t &count = buckets_[other.first_ - first_ + n];
    count += std::min(other.buckets_[n], UINT32_MAX - count);
  }
  count_ += other.count_;
  max_ = std::max(max_, other.max_);
  sum_ += other.sum_;
}

uint64_t LatencyHistogram::below(unsigned bits) const {
  const size_t end = bucket_of(uint64_t(1) << bits);
  uint64_t seen = 0;
  for (size_t n = 0; n < buckets_.size() && first_ + n < end; n++)
    seen += buckets_[n];
  return seen;
}

uint64_t LatencyHistogram::percentile(double percent) const {
  const uint64_t rank = std::max<uint64_t>(1, uint64_t(std::ceil(double(count_) * percent / 100)));
  if (rank >= count_)
    return max_;
  uint64_t seen = 0;
  for (size_t n = 0; n < buckets_.size(); n++) {
    seen += buckets_[n];
    if (seen >= rank)
      return std::min(middle_of(first_ + n), max_);
  }
  return max_;
}

} // namespace ovnitrace
