// SPDX-License-Identifier: BSD-2-Clause
// The longest of many.
#pragma once

#include "emulator/why/explanation.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace ovnitrace {

class Longest {
public:
  explicit Longest(size_t most) : most_(most) {}

  /// Whether one of this length would be kept: to know before it is made.
  bool wants(uint64_t length) const {
    return length && (stories_.size() < most_ || length > stories_.back().length());
  }
  /// Of two that are as long, the first one stands first.
  void add(Story story) {
    const auto at =
        std::upper_bound(stories_.begin(), stories_.end(), story,
                         [](const Story &a, const Story &b) { return a.length() > b.length(); });
    stories_.insert(at, std::move(story));
    if (stories_.size() > most_)
      stories_.pop_back();
  }
  std::vector<Story> take() { return std::move(stories_); }

private:
  size_t most_;
  std::vector<Story> stories_;
};

} // namespace ovnitrace
