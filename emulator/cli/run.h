// SPDX-License-Identifier: BSD-2-Clause
// Runs a command line: the one place where errors become messages and exit statuses.
#pragma once

#include "emulator/cli/app.h"

#include <span>
#include <string>
#include <string_view>

namespace ovnitrace {

/// Parses the command line and does what its subcommand says. Returns the exit status of the
/// program: 0; 2 for a command line that is wrong; the status of an ovnitrace::Error, reported on
/// stderr as "PROGRAM: message" with the name of `program`; 1 for any other failure. A subcommand
/// that has reported its failure itself ends with end_command(). Throws nothing. Where an argument
/// that nothing takes could have been meant as the program to trace, as one of the
/// `program_commands` is named (`program` itself is "") and none is given, the message says so.
int run_cli(App program, int argc, char **argv,
            std::span<const std::string_view> program_commands = {}) noexcept;

/// Adds a subcommand that needs no privilege: before anything else it becomes the user who called
/// sudo, and drops every capability.
App add_unprivileged(App app, const std::string &name, const std::string &description);

/// Ends a command from its callback, and with it the program.
[[noreturn]] void end_command(int status);

} // namespace ovnitrace
