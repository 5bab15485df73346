// SPDX-License-Identifier: BSD-2-Clause
// The .row beside a .prv: the names of the rows.
#pragma once

#include "emulator/output/output_place.h"

#include <string>
#include <vector>

namespace ovnitrace {

/// Names for each level, in the order of the objects of the trace. A level that is empty is left
/// out.
struct RowNames {
  std::vector<std::string> cpus, nodes, tasks, threads;
};

/// The text of the .row. Names are made fit for one line; an empty one becomes "LEVEL n".
std::string row_text(const RowNames &names);

/// Writes it to `path` ("thread.row" for "thread.prv"). Throws Error.
void write_row(const OutputPlace &place, const RowNames &names);

} // namespace ovnitrace
