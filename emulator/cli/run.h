// SPDX-License-Identifier: BSD-2-Clause
// Runs a command line and turns errors into messages and exit statuses.
#pragma once

#include "emulator/cli/app.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ovnitrace {

/// The first argument of the call by which the shells complete a command line (complete.h). `--`
/// may be among the words that follow.
inline constexpr std::string_view kCompleteCommand = "__complete";

/// Returns all that follows the first `--`: the traced program with its arguments, or traces. Takes
/// it away from the command line, so that the program's options never mix with ours. Takes nothing
/// from the call that completes a command line.
std::vector<std::string> take_after_dashes(int &argc, char **argv);

/// Parses the command line, runs its subcommand and returns the exit status. It is 0, 2 for a wrong
/// command line, the status of an ovnitrace::Error or of a subcommand that has reported a failure
/// itself, or 1 for any other failure. Errors are printed on stderr as "PROGRAM: message" with the
/// name of `program`. Throws nothing.
///
/// An unexpected argument may be the program to trace. If no command of `program_commands` was
/// given (`program` itself is ""), the message suggests that.
int run_cli(App program, int argc, char **argv,
            std::span<const std::string_view> program_commands = {}) noexcept;

/// Adds a subcommand that needs no privilege. Before anything else, it becomes the user who called
/// sudo and drops every capability.
App add_unprivileged(App app, const std::string &name, const std::string &description);

} // namespace ovnitrace
