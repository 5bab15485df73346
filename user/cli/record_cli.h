// SPDX-License-Identifier: BSD-2-Clause
// The commands that capture.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace ovnitrace {

/// What `ovnitrace` itself does without a subcommand: records `command`, then converts. The exit
/// status is the program's. Adds the options of recording to `app`.
void add_trace(CLI::App &app, const std::vector<std::string> &command);

/// `ovnitrace record`: records only.
void add_record(CLI::App &app, const std::vector<std::string> &command);

} // namespace ovnitrace
