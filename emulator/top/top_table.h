// SPDX-License-Identifier: BSD-2-Clause
// Makes the table of `ovnitrace top`.
#pragma once

#include "emulator/top/top_part.h"

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <string>
#include <vector>

namespace ovnitrace {

/// What a line is about.
enum class TopBy : uint8_t { thread, process, name };

struct TopView {
  TopBy by = TopBy::thread;
  std::string sort = "run"; ///< one of top_sort_words()
  std::string filter = {};  ///< only names that contain this
  size_t columns = 100;     ///< width of a line
};

struct TopTable {
  std::vector<std::string> head; ///< the CPUs, the threads together, and the heads of the columns
  std::vector<std::string> lines;
  std::vector<uint32_t> tids; ///< by line: the thread; of a group 0
};

/// Returns the table of an interval. Shares are of the interval; those of a group are sums. Leaves
/// out threads that did not exist in the interval, and those that the filter leaves out.
TopTable top_table(TopPart &part, const TopView &view);

/// Returns the title of a table. `interval`: ns. `time`: of the clock, seconds since 1970. What
/// changes comes first, because a terminal may have only 80 columns.
std::string top_title(const TopView &view, time_t time, uint64_t interval, bool frozen = false);

/// Marks the threads of `summary` whose names contain the filter of a view, or all.
void apply_filter(Summary &summary, const Catalog &catalog, const std::string &filter);

} // namespace ovnitrace
