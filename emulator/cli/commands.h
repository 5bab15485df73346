// SPDX-License-Identifier: BSD-2-Clause
// Adds the commands that need neither root nor libbpf. Each function adds one subcommand with its
// options, help and examples. The command runs when the command line is parsed.
#pragma once

#include "emulator/cli/app.h"

#include <string>
#include <vector>

namespace ovnitrace {

void add_convert(App app);  ///< converts a trace to Paraver
void add_info(App app);     ///< says what a trace is, and sums up its threads and CPUs
void add_dump(App app);     ///< prints its events as text, one in a line
void add_compress(App app); ///< compresses its chunk files, or decompresses them
void add_export(App app);   ///< writes the format of another tool
void add_report(App app);   ///< writes a page for the browser
void add_plot(App app);     ///< draws a figure, or in the terminal
void add_why(App app);      ///< says where the time of threads went, and who is to blame

void add_config(App app); ///< says which options are configured, and where
/// Says what made some runs slower than others. `after`: what follows a --, the traces of the
/// second runs.
void add_diff(App app, const std::vector<std::string> &after);

/// The commands, in the order of the help.
inline constexpr void (*kTraceCommands[])(App) = {add_convert, add_info,     add_why,
                                                  add_dump,    add_export,   add_report,
                                                  add_plot,    add_compress, add_config};

} // namespace ovnitrace
