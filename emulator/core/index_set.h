// SPDX-License-Identifier: BSD-2-Clause
// Provides a set of small numbers, walked in time proportional to its members.
#pragma once

#include <cstdint>
#include <vector>

namespace ovnitrace {

/// A subset of 0 … size - 1. Adding, removing and asking need no search and no allocation.
class IndexSet {
public:
  explicit IndexSet(size_t size) : place_(size, kNowhere) { members_.reserve(size); }

  /// Makes room for one more number, which is not in the set.
  void grow() {
    place_.push_back(kNowhere);
    members_.reserve(place_.capacity());
  }

  bool has(uint32_t index) const { return place_[index] != kNowhere; }
  /// Prefetches a number.
  void prefetch(uint32_t index) const { __builtin_prefetch(&place_[index], 1); }

  void put(uint32_t index, bool in) {
    if (in == has(index))
      return;
    if (in) {
      place_[index] = uint32_t(members_.size());
      members_.push_back(index);
      return;
    }
    members_[place_[index]] = members_.back();
    place_[members_.back()] = place_[index];
    place_[index] = kNowhere;
    members_.pop_back();
  }

  /// Calls `f` for each member. `f` may remove that member, and no other.
  template <class F> void for_each(F &&f) const {
    for (size_t n = members_.size(); n-- > 0;)
      f(members_[n]);
  }

private:
  static constexpr uint32_t kNowhere = UINT32_MAX;
  std::vector<uint32_t> place_; ///< by number: where it is in members_
  std::vector<uint32_t> members_;
};

} // namespace ovnitrace
