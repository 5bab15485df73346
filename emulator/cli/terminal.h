// SPDX-License-Identifier: BSD-2-Clause
// How wide the output may be.
#pragma once

#include <cstddef>

namespace ovnitrace {

/// Returns the columns of the terminal that the descriptor is, 100 where it is none.
size_t terminal_columns(int fd);

} // namespace ovnitrace
