// SPDX-License-Identifier: BSD-2-Clause
// Adds ovnitrace control, which explains chains, and ovnitrace ctl, which controls regions by hand.
#pragma once

#include "emulator/cli/app.h"

#include <string>
#include <vector>

namespace ovnitrace {

/// `command`: the program after --, and its arguments; outlives the parsing.
void add_control(App app, const std::vector<std::string> &command);
void add_ctl(App app);

} // namespace ovnitrace
