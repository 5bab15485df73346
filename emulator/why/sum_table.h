// SPDX-License-Identifier: BSD-2-Clause
// Provides a hash table of sums.
#pragma once

#include "emulator/format/event.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace ovnitrace {

/// A hash table that keeps its sums contiguous, in the order of insertion. It takes a third of the
/// memory of std::unordered_map, and small tables stay in the L1 cache. A Sum has key(): an array
/// of numbers.
template <class Sum> class SumTable {
public:
  using Key = decltype(std::declval<const Sum &>().key());

  /// Returns the sum with the key of `zero`; inserts `zero` if there was none before. Valid until
  /// the next call.
  Sum &of(const Sum &zero) {
    uint32_t &slot = slots_[place_of(zero.key())];
    if (slot != kNone)
      return sums_[slot];
    slot = uint32_t(sums_.size());
    sums_.push_back(zero);
    if (sums_.size() * 2 > slots_.size())
      grow();
    return sums_.back();
  }
  /// Returns the index in all(), kNone if the key is not there.
  uint32_t index_of(const Key &key) const { return slots_[place_of(key)]; }
  const std::vector<Sum> &all() const { return sums_; }
  /// Returns all sums and clears the table.
  std::vector<Sum> take() {
    std::vector<Sum> sums = std::move(sums_);
    clear();
    return sums;
  }
  void clear() {
    std::fill(slots_.begin(), slots_.end(), kNone);
    sums_.clear();
  }

private:
  size_t place_of(const Key &key) const {
    constexpr uint64_t odd = 0x9e3779b97f4a7c15; // 2^64 / the golden ratio
    uint64_t hash = 0;
    for (const uint64_t part : key)
      hash = (hash ^ (hash >> 29) ^ part) * odd;
    const size_t mask = slots_.size() - 1;
    size_t place = (hash >> 32) & mask;
    while (slots_[place] != kNone && sums_[slots_[place]].key() != key)
      place = (place + 1) & mask;
    return place;
  }
  void grow() {
    slots_.assign(slots_.size() * 2, kNone);
    for (uint32_t n = 0; n < sums_.size(); n++)
      slots_[place_of(sums_[n].key())] = n;
  }

  std::vector<Sum> sums_;
  /// Indices into sums_, kNone: free. The size is a power of two; more than half is free.
  std::vector<uint32_t> slots_ = std::vector<uint32_t>(64, kNone);
};

} // namespace ovnitrace
