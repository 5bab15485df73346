// SPDX-License-Identifier: BSD-2-Clause
// The libraries that a program needs, as its own dynamic loader finds them.
#pragma once

#include "emulator/base/identity.h"

#include <string>
#include <vector>

namespace ovnitrace {

/// Runs `interpreter --list program`, which maps the libraries and runs nothing of them, as the
/// user who will run the program and in our environment. Their paths; empty where the loader fails,
/// or takes too long: the file is the user's, and may have been made to keep us busy.
std::vector<std::string> needed_libraries(const std::string &interpreter,
                                          const std::string &program, const Identity &identity);

/// The paths in what a loader lists: `\tlibc.so.6 => /lib/libc.so.6 (0x7f…)`, and without the name
/// where that is a path.
std::vector<std::string> listed_libraries(const std::string &list);

} // namespace ovnitrace
