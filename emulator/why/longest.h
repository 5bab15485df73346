// SPDX-License-Identifier: BSD-2-Clause
// Keeps the longest of many waits, or those with most of something else.
#pragma once

#include "emulator/why/explanation.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace ovnitrace {

class Longest {
public:
  using Key = uint64_t (*)(const LongWait &); ///< the most of it comes first

  explicit Longest(
      size_t most, Key key = [](const LongWait &wait) { return wait.length(); })
      : most_(most), key_(key) {}

  /// Returns whether a wait with this key would be kept. To be asked before the wait is made.
  bool wants(uint64_t key) const {
    return key && (longest_.size() < most_ || key > key_(longest_.back()));
  }
  /// Adds a wait. If several have the same key, the first one added comes first.
  void add(LongWait wait) {
    const auto at = std::upper_bound(
        longest_.begin(), longest_.end(), wait,
        [this](const LongWait &a, const LongWait &b) { return key_(a) > key_(b); });
    longest_.insert(at, std::move(wait));
    if (longest_.size() > most_)
      longest_.pop_back();
  }
  std::vector<LongWait> take() { return std::move(longest_); }

private:
  size_t most_;
  Key key_;
  std::vector<LongWait> longest_;
};

} // namespace ovnitrace
