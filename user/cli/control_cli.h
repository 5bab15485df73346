// SPDX-License-Identifier: BSD-2-Clause
// ovnitrace control and ovnitrace ctl: what chains mean, and regions by hand.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace ovnitrace {

/// `command`: the program after --, and its arguments; outlives the parsing.
void add_control(CLI::App &app, const std::vector<std::string> &command);
void add_ctl(CLI::App &app);

} // namespace ovnitrace
