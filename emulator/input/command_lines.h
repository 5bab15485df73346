// SPDX-License-Identifier: BSD-2-Clause
// The command line of each process of a catalog.
#pragma once

#include "emulator/input/source.h"

#include <string_view>
#include <vector>

namespace ovnitrace {

/// By index in the Catalog: what the process of a thread executed last, printable; empty where that
/// is not known. A pid that was used again is two processes. Views into the Catalog.
std::vector<std::string_view> command_lines(const Catalog &catalog);

} // namespace ovnitrace
