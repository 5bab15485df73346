// SPDX-License-Identifier: BSD-2-Clause
// Shows two runs on one page: what changed, and where in each of them.
#pragma once

#include "emulator/diff/comparison.h"
#include "emulator/input/source.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>

namespace ovnitrace {

/// Two runs, one each in `runs`, that are the two hosts of one trace.
struct Against {
  ComparedRuns runs;
  Comparison comparison;
  int64_t shift = 0; ///< ns, added to the times of the second run
};

/// Returns what the page says of the comparison: the change of each cause, largest first, with the
/// longest part of each critical path that has this cause. `catalog`: of both runs as one trace.
nlohmann::ordered_json against_header(const Against &against, const Catalog &catalog);

} // namespace ovnitrace
