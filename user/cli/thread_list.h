// SPDX-License-Identifier: BSD-2-Clause
// Prints the threads that --dry-run finds.
#pragma once

#include <ovnitrace/selection.h>

#include <vector>

namespace ovnitrace {

/// Prints a table, or an object of JSON.
void print_threads(const std::vector<listed_thread> &threads, bool json);

} // namespace ovnitrace
