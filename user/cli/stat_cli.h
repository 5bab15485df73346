// SPDX-License-Identifier: BSD-2-Clause
// The command that measures and keeps no trace.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace ovnitrace {

/// `ovnitrace stat`: runs `command` and prints a summary. The exit status is the program's.
void add_stat(CLI::App &app, const std::vector<std::string> &command);

} // namespace ovnitrace
