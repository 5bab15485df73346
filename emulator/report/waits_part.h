// SPDX-License-Identifier: BSD-2-Clause
// Who had the CPU while threads waited, for the page.
#pragma once

#include "emulator/input/source.h"
#include "emulator/why/explanation.h"

#include <nlohmann/json_fwd.hpp>

namespace ovnitrace {

/// As JSON: `sums`, how long each thread waited while one holder had its CPU, the longest first,
/// 1000 of them at most, and `left_out`, the ns of the others; `longest`, the parts of the longest
/// waits.
nlohmann::ordered_json waits_header(const Catalog &catalog, const Explanation &why);

} // namespace ovnitrace
