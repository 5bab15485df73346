// SPDX-License-Identifier: BSD-2-Clause
// Adds options that are numbers. They are read strictly: decimal digits and nothing else, where
// CLI11 takes 010 for 8 and 1x for 1.
#pragma once

#include "emulator/cli/app.h"

#include <cstdint>
#include <string>

namespace ovnitrace {

/// Returns the long name of "-p,--pid".
std::string long_name(const std::string &names);

/// Returns the whole number in `text`. Throws Error (kExitUsage) about `option`.
uint64_t parse_number(const std::string &option, const std::string &text, uint64_t least,
                      uint64_t most);

/// `names`: the long one last.
template <typename Number>
Option add_number(App app, const std::string &names, Number &number, uint64_t least, uint64_t most,
                  const std::string &what) {
  const auto read = [&number, option = long_name(names), least, most](const std::string &text) {
    number = Number(parse_number(option, text, least, most));
  };
  return app.add_option_function<std::string>(names, read, what).type_name("N");
}

/// Adds an option for a size above 0, such as 512K, 64M or 2G. `bytes` gets it in bytes. `names`:
/// the long one last.
Option add_size(App app, const std::string &names, uint64_t &bytes, const std::string &what);

} // namespace ovnitrace
