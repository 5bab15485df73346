// SPDX-License-Identifier: BSD-2-Clause
// Gives the PRV types of callers_model(), which it declares only for traces that have stacks.
#pragma once

#include <cstdint>

namespace ovnitrace {

/// The numbers by which Extrae calls callers and their lines, so that views made for it show these:
/// level n has the type + n, from 1 to kCallerLevels.
inline constexpr uint32_t kFunctionType = 70000000, kLineType = 80000000;
inline constexpr uint32_t kCallerLevels = 5;

} // namespace ovnitrace
