// SPDX-License-Identifier: BSD-2-Clause
// Runs a command line: the one place where errors become messages and exit statuses.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace ovnitrace {

/// Parses the command line and does what its subcommand says. Returns the exit status of the
/// program: 0; 2 for a command line that is wrong; the status of an ovnitrace::Error, reported on
/// stderr as "PROGRAM: message" with the name of `app`; 1 for any other failure. A subcommand that
/// has reported its failure itself ends with `throw CLI::RuntimeError(status)`. Throws nothing.
/// Where an argument that nothing takes could have been meant as the program to trace, as one of
/// the `program_commands` is named (`app` itself is "") and none is given, the message says so.
int run_cli(CLI::App &app, int argc, char **argv,
            std::span<const std::string_view> program_commands = {}) noexcept;

/// Adds a subcommand that needs no privilege: before anything else it becomes the user who called
/// sudo, and drops every capability.
CLI::App *add_unprivileged(CLI::App &app, const std::string &name, const std::string &description);

} // namespace ovnitrace
