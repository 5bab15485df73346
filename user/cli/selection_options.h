// SPDX-License-Identifier: BSD-2-Clause
// Adds the options that choose threads: which of those that could be recorded are.
#pragma once

#include "emulator/cli/app.h"

#include "user/select/selection.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ovnitrace {

/// Adds the filters. `selection` outlives `app`. They throw Error (kExitUsage).
void add_selection_options(App app, Selection &selection);

/// Returns the CPUs of a list as 0-3,8. Throws Error (kExitUsage) about `option` if it is no such
/// list, or if this machine lacks one: it has those below `cpus`.
std::vector<uint32_t> parse_cpus(const std::string &option, const std::string &list, uint32_t cpus);

} // namespace ovnitrace
