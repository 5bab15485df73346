// SPDX-License-Identifier: BSD-2-Clause
// Adds every command of ovnitrace. Each function below adds one with its options, help and
// examples.
#pragma once

#include "emulator/cli/commands.h"

#include <string>
#include <string_view>
#include <vector>

namespace ovnitrace {

/// The commands that take a program after --; "" is `ovnitrace` itself.
inline constexpr std::string_view kProgramCommands[] = {"", "record", "stat", "control"};
/// The command that takes traces after --.
inline constexpr std::string_view kTracesCommand = "diff";

/// In all of these, `command` is the program after -- with its arguments. It outlives the parsing.

/// Adds the options of recording to `app`, for `ovnitrace` without a subcommand: it records
/// `command`, then converts. The exit status is the program's.
void add_trace(App app, const std::vector<std::string> &command);
/// Adds the command that records and does not convert.
void add_record(App app, const std::vector<std::string> &command);
/// Measures and keeps no trace: runs `command` and prints a summary. The exit status is the
/// program's.
void add_stat(App app, const std::vector<std::string> &command);
void add_top(App app);     ///< shows a capture while it goes on
void add_collect(App app); ///< receives traces that `--send` sends; needs no root
void add_control(App app, const std::vector<std::string> &command); ///< explains chains
void add_ctl(App app);                                              ///< controls regions by hand

/// Adds all these commands, in the order of the help.
inline void add_commands(App app, const std::vector<std::string> &command) {
  add_trace(app, command);
  add_record(app, command);
  add_stat(app, command);
  for (const auto add : kTraceCommands)
    add(app);
  add_top(app);
  add_diff(app, command);
  add_collect(app);
  add_control(app, command);
  add_ctl(app);
}

} // namespace ovnitrace
