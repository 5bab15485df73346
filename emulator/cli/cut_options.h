// SPDX-License-Identifier: BSD-2-Clause
// The options that choose a part of a trace, the same of every subcommand.
#pragma once

#include "emulator/core/cut.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <string>

namespace ovnitrace {

inline constexpr const char *kCutGroup = "Part of the trace"; ///< in --help

/// Adds an option that takes one value a time, or a list with commas: the traces that follow are
/// not taken for values. `type` is what --help calls a value. `list` must live until the command
/// line is parsed.
template <class List>
void add_cut_list(CLI::App &command, const std::string &name, const char *type, List &list,
                  const std::string &what) {
  command.add_option(name, list, what)
      ->type_name(type)
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group(kCutGroup);
}

/// Adds --from, --to, --pid, --tid and --comm, which set `cut`; it must live until the command line
/// is parsed. Whether the cut fits the trace, check_cut() says. `end` is what --to is called where
/// that name is taken.
void add_cut_options(CLI::App &command, Cut &cut, const std::string &end = "--to");

} // namespace ovnitrace
