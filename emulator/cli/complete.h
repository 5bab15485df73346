// SPDX-License-Identifier: BSD-2-Clause
// Says what may follow on a command line, for the completion of bash, zsh and fish
// (packaging/completion/).
#pragma once

#include <CLI/App.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ovnitrace {

/// Returns the words that may replace the last one of `words`, which follow the name of the
/// program. A line is a word, a tab and what it means, if that is known. The last line is `:words`
/// if these are all. It is `:files` or `:directories` if names of such may follow, too: after the
/// `=` if the word has one. `program_commands`: those that take a program after `--`.
///
/// Reads the traces in the line.
std::string completions(const CLI::App &program, const std::vector<std::string> &words,
                        std::span<const std::string_view> program_commands);

} // namespace ovnitrace
