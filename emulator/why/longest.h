// SPDX-License-Identifier: BSD-2-Clause
// Keeps the longest of many waits.
#pragma once

#include "emulator/why/explanation.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace ovnitrace {

class Longest {
public:
  explicit Longest(size_t most) : most_(most) {}

  /// Returns whether a wait of this length would be kept. To be asked before the wait is made.
  bool wants(uint64_t length) const {
    return length && (longest_.size() < most_ || length > longest_.back().length());
  }
  /// Adds a wait. If several are equally long, the first one added comes first.
  void add(LongWait wait) {
    const auto at = std::upper_bound(
        longest_.begin(), longest_.end(), wait,
        [](const LongWait &a, const LongWait &b) { return a.length() > b.length(); });
    longest_.insert(at, std::move(wait));
    if (longest_.size() > most_)
      longest_.pop_back();
  }
  std::vector<LongWait> take() { return std::move(longest_); }

private:
  size_t most_;
  std::vector<LongWait> longest_;
};

} // namespace ovnitrace
