// SPDX-License-Identifier: BSD-2-Clause
// Adds the commands that capture.
#pragma once

#include "emulator/cli/app.h"

#include <string>
#include <string_view>
#include <vector>

namespace ovnitrace {

/// The commands that take a program after --; "" is `ovnitrace` itself.
inline constexpr std::string_view kProgramCommands[] = {"", "record", "stat", "control"};

/// Adds the options of recording to `app`, for `ovnitrace` without a subcommand: it records
/// `command`, then converts. The exit status is the program's.
void add_trace(App app, const std::vector<std::string> &command);

/// `ovnitrace record`: records only.
void add_record(App app, const std::vector<std::string> &command);

} // namespace ovnitrace
