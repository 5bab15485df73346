// SPDX-License-Identifier: BSD-2-Clause
// Finds the libraries that a program needs, with its own dynamic loader.
#pragma once

#include "emulator/base/identity.h"

#include <string>
#include <vector>

namespace ovnitrace {

/// Returns the paths of the libraries. It runs `interpreter --list program`, which maps the
/// libraries and executes nothing of them, as the user who will run the program and in our
/// environment. Empty if the loader fails or takes too long, or if others than root can change it:
/// the file is the user's, and may have been made to harm us.
std::vector<std::string> needed_libraries(const std::string &interpreter,
                                          const std::string &program, const Identity &identity);

/// Returns the paths in the list of a loader: `\tlibc.so.6 => /lib/libc.so.6 (0x7f…)`, or without
/// the name if the name is a path.
std::vector<std::string> listed_libraries(const std::string &list);

} // namespace ovnitrace
