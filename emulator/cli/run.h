// SPDX-License-Identifier: BSD-2-Clause
// Runs a command line: the one place where errors become messages and exit statuses.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace ovnitrace {

/// Parses the command line and does what its subcommand says. Returns the exit status of the
/// program: 0; 2 for a command line that is wrong; the status of an ovnitrace::Error, reported on
/// stderr as "PROGRAM: message" with the name of `app`; 1 for any other failure. A subcommand that
/// has reported its failure itself ends with `throw CLI::RuntimeError(status)`. Throws nothing. The
/// hint is printed where an argument that nothing takes could have been meant as a program.
int run_cli(CLI::App &app, int argc, char **argv, const char *stray_hint = nullptr) noexcept;

/// Adds a subcommand that needs no privilege: before anything else it becomes the user who called
/// sudo, and drops every capability.
CLI::App *add_unprivileged(CLI::App &app, const std::string &name, const std::string &description);

} // namespace ovnitrace
