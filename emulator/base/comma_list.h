// SPDX-License-Identifier: BSD-2-Clause
// Splits lists of the command line.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
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

} // namespace ovnitrace
