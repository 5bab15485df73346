// SPDX-License-Identifier: BSD-2-Clause
// Adds the command that measures and keeps no trace.
#pragma once

#include "emulator/cli/app.h"

#include <string>
#include <vector>

namespace ovnitrace {

/// `ovnitrace stat`: runs `command` and prints a summary. The exit status is the program's.
void add_stat(App app, const std::vector<std::string> &command);

} // namespace ovnitrace
