// SPDX-License-Identifier: BSD-2-Clause
// The commands that need neither root nor libbpf. Each function adds one subcommand, with its
// options, help and examples, to a program; its work is done when the command line is parsed.
#pragma once

#include "emulator/cli/app.h"

namespace ovnitrace {

void add_convert(App app);  ///< a trace to Paraver
void add_info(App app);     ///< what a trace is, with a summary of its threads and CPUs
void add_dump(App app);     ///< its events as text, one a line
void add_compress(App app); ///< its chunk files made smaller, and back
void add_export(App app);   ///< a trace to the format of another tool
void add_report(App app);   ///< a trace as one page for the browser
void add_plot(App app);     ///< a trace as a figure, or in the terminal
void add_why(App app);      ///< where the time of threads went, and who is to blame

/// In the order of the help.
inline constexpr void (*kTraceCommands[])(App) = {add_convert, add_info,   add_why,  add_dump,
                                                  add_export,  add_report, add_plot, add_compress};

} // namespace ovnitrace
