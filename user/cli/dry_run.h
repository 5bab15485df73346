// SPDX-License-Identifier: BSD-2-Clause
// Prints what `record --dry-run` finds.
#pragma once

#include <ovnitrace/selection.h>

#include <vector>

namespace ovnitrace {

/// Prints the threads as a table, or as an object of JSON.
void print_threads(const std::vector<listed_thread> &threads, bool json);

} // namespace ovnitrace
