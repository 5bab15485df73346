// SPDX-License-Identifier: BSD-2-Clause
// Tells how wide the output may be.
#pragma once

#include <sys/ioctl.h>

#include <cstddef>

namespace ovnitrace {

/// Returns the columns of the terminal that the descriptor refers to, 100 if it is not a terminal.
inline size_t terminal_columns(int fd) {
  constexpr size_t kNoTerminal = 100;
  winsize size{};
  return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : kNoTerminal;
}

} // namespace ovnitrace
