// SPDX-License-Identifier: BSD-2-Clause
// Reads defaults of options from /etc/ovnitrace/config and ~/.config/ovnitrace/config
// (docs/config.md).
#pragma once

#include <CLI/App.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ovnitrace {

/// The name under which Option::default_if() stores its condition: whether a default has an effect.
inline constexpr const char *kDefaultIf = "default_if";

/// A line NAME = VALUE.
struct Setting {
  std::string file;
  size_t line = 0, column = 0; ///< of the value, from 1
  std::string command = {};    ///< section; empty: each command that has the option
  std::string name = {};       ///< long name of the option, without dashes
  std::string value = {};
};

/// Parses the text of `file`. Throws Error with FILE:LINE:COLUMN if it is wrong.
std::vector<Setting> parse_config(const std::string &file, std::string_view text);

/// Throws Error about the first setting whose command or option `program` does not have. A section
/// can also name `program` itself.
void check_config(const CLI::App &program, const std::vector<Setting> &settings);

/// Returns the settings that apply to `command`, one for each option: later files override earlier
/// ones and, in a file, a section overrides what is before all sections. The last line comes first.
std::vector<const Setting *> settings_of(const CLI::App &command,
                                         const std::vector<Setting> &settings);

/// Sets the options that were not given to `command`, which is parsed. Ignores a setting that an
/// option of the command line excludes, or that needs another option which has no value.
/// Throws Error about a value that the option does not take.
void apply_config(CLI::App &command, const std::vector<Setting> &settings);

/// Returns the paths of the files, the most important last, whether they exist or not. The file of
/// the user is left out for root under sudo: the caller may be allowed less than root.
std::vector<std::string> config_files();

/// Reads these files. Skips one that does not exist or belongs to another user than root or us.
/// Throws Error.
std::vector<Setting> read_config(const std::vector<std::string> &files);

} // namespace ovnitrace
