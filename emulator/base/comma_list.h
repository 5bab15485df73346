// SPDX-License-Identifier: BSD-2-Clause
// Splits lists and ranges of the command line.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace ovnitrace {

/// Returns the words between the commas of `list`, empty ones too: "a,,b" has three, "" has one.
inline std::vector<std::string> comma_list(const std::string &list) {
  std::vector<std::string> words;
  for (size_t at = 0; at <= list.size();) {
    const size_t comma = std::min(list.find(',', at), list.size());
    words.push_back(list.substr(at, comma - at));
    at = comma + 1;
  }
  return words;
}

/// Returns the ends of a range of numbers: those of "0-3" are "0" and "3", those of "8" are equal.
inline std::pair<std::string, std::string> range_ends(const std::string &range) {
  const size_t dash = range.find('-', 1);
  return {range.substr(0, dash), dash == range.npos ? range : range.substr(dash + 1)};
}

} // namespace ovnitrace
