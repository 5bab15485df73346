// SPDX-License-Identifier: BSD-2-Clause
// Makes the output of `ovnitrace diff`, as text and as JSON.
#pragma once

#include "emulator/base/json_stream.h"
#include "emulator/diff/comparison.h"
#include "emulator/diff/gate.h"

#include <cstddef>
#include <string>
#include <vector>

namespace ovnitrace {

/// Everything that the output is made from; borrowed.
struct DiffInput {
  const ComparedRuns &runs;
  const Comparison &comparison;
  const std::vector<GateResult> &gates;
};

/// Returns text. `top`: most lines of a table and most groups, 0: all. `columns`: width of a line.
std::string diff_text(const DiffInput &input, size_t top, size_t columns);

/// Writes a JSON object. Times are ns. Keys are never renamed.
void write_diff_json(const DiffInput &input, const JsonStream::Write &write);

} // namespace ovnitrace
