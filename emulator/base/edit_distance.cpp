// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/base/edit_distance.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <numeric>
#include <vector>

namespace ovnitrace {

size_t edit_distance(std::string_view a, std::string_view b) {
  // Rows of the table of distances between the first letters of both: the last three.
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  const auto same = [&](size_t i, size_t j) {
    return tolower(uint8_t(a[i])) == tolower(uint8_t(b[j]));
  };
  for (size_t i = 1; i <= a.size(); i++) {
    before.swap(last);
    last.swap(row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); j++) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + !same(i - 1, j - 1)});
      if (i > 1 && j > 1 && same(i - 1, j - 2) && same(i - 2, j - 1))
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

} // namespace ovnitrace
