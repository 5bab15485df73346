// SPDX-License-Identifier: BSD-2-Clause
// Tells how wide the output may be.
#pragma once

#include <cstddef>

namespace ovnitrace {

/// Returns the columns of the terminal that the descriptor refers to, 100 if it is not a terminal.
size_t terminal_columns(int fd);

} // namespace ovnitrace
