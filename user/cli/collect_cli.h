// SPDX-License-Identifier: BSD-2-Clause
// ovnitrace collect.
#pragma once

namespace CLI {
class App;
}

namespace ovnitrace {

/// Receives traces that `--send` sends. Needs no root.
void add_collect(CLI::App &app);

} // namespace ovnitrace
