// SPDX-License-Identifier: BSD-2-Clause
// Makes the .row beside a .prv: the names of the rows.
#pragma once

#include <string>
#include <vector>

namespace ovnitrace {

/// Names for each level, in the order of the trace's objects. An empty level is left out.
struct RowNames {
  std::vector<std::string> cpus, nodes, tasks, threads;
};

/// Returns the text of the .row. Names become single lines; an empty one becomes "LEVEL n".
std::string row_text(const RowNames &names);

} // namespace ovnitrace
