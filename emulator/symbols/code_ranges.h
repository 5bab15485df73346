// SPDX-License-Identifier: BSD-2-Clause
// Finds a compilation unit or a function by an address of its code.
#pragma once

#include <elfutils/libdw.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace ovnitrace {

class CodeRanges {
public:
  /// Adds the code of a unit or function.
  void add(Dwarf_Die die, Dwarf_Addr bias = 0) {
    Dwarf_Addr base, start, end;
    for (ptrdiff_t at = 0; (at = dwarf_ranges(&die, at, &base, &start, &end)) > 0;)
      ranges_.push_back({start + bias, end + bias, die});
  }
  /// Call it after the last add().
  void sort() {
    std::sort(ranges_.begin(), ranges_.end(),
              [](const Range &a, const Range &b) { return a.start < b.start; });
  }
  /// Returns what has the code at `address`; null if nothing does. REQUIRES: sort()
  const Dwarf_Die *find(Dwarf_Addr address) const {
    const auto after =
        std::upper_bound(ranges_.begin(), ranges_.end(), address,
                         [](Dwarf_Addr at, const Range &range) { return at < range.start; });
    return after == ranges_.begin() || address >= std::prev(after)->end ? nullptr
                                                                        : &std::prev(after)->die;
  }

private:
  struct Range {
    Dwarf_Addr start, end;
    Dwarf_Die die;
  };
  std::vector<Range> ranges_;
};

} // namespace ovnitrace
