// SPDX-License-Identifier: BSD-2-Clause
// Adds --color, --pager and --no-pager, for commands that print much text.
#pragma once

#include "emulator/cli/app.h"

#include <string>

namespace ovnitrace {

/// Adds them. They take effect when the command line is parsed.
void add_terminal_options(App command);

/// Returns whether standard output gets colours: as --color says, else if it is a terminal that has
/// them and NO_COLOR (https://no-color.org) is not set.
bool wants_colors();

/// Returns a report with bold headings if wants_colors(): lines in capitals, and lines that end
/// with a colon.
std::string with_headings(const std::string &report);

} // namespace ovnitrace
