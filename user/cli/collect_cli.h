// SPDX-License-Identifier: BSD-2-Clause
// ovnitrace collect.
#pragma once

#include "emulator/cli/app.h"

namespace ovnitrace {

/// Receives traces that `--send` sends. Needs no root.
void add_collect(App app);

} // namespace ovnitrace
