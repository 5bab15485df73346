// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

namespace ovnitrace::test {

/// Returns how often a part is in a text. The parts may overlap.
inline size_t count_in(const std::string &text, const std::string &part) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(part, at)) != text.npos; at++)
    count++;
  return count;
}

} // namespace ovnitrace::test
