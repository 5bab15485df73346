// SPDX-License-Identifier: BSD-2-Clause
// Finds the command line of each process of a catalog.
#pragma once

#include "emulator/input/source.h"

#include <string_view>
#include <vector>

namespace ovnitrace {

/// Returns, by index in the Catalog, what the process of each thread executed last; empty where
/// that is not known. The texts are printable views into the Catalog. A pid that was used again is
/// two processes.
std::vector<std::string_view> command_lines(const Catalog &catalog);

} // namespace ovnitrace
