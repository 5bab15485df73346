// SPDX-License-Identifier: BSD-2-Clause
// Makes the part of the page that says who held the CPU while threads waited.
#pragma once

#include "emulator/input/source.h"
#include "emulator/why/explanation.h"

#include <nlohmann/json_fwd.hpp>

namespace ovnitrace {

/// Returns JSON. `sums`: how long each thread waited while one holder held its CPU, the longest
/// first, at most 1000. `left_out`: ns of the others.
nlohmann::ordered_json waits_header(const Catalog &catalog, const Explanation &why);

} // namespace ovnitrace
