// SPDX-License-Identifier: BSD-2-Clause
// Writes the help of a command as a manual page. Options, texts and examples are those of --help.
#pragma once

#include <CLI/App.hpp>

#include <string>

namespace ovnitrace {

/// Returns the page of `command`, a subcommand of `program` or `program` itself, for man(1).
/// `date`: as YYYY-MM-DD.
std::string man_page(const CLI::App &command, const CLI::App &program, const std::string &date);

/// Writes the pages of `program` and of its subcommands into a directory, which is made: as
/// ovnitrace.1, ovnitrace-why.1. The date is that of SOURCE_DATE_EPOCH, or today. Throws Error.
void write_man_pages(const CLI::App &program, const std::string &directory);

} // namespace ovnitrace
