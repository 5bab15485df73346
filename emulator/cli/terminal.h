// SPDX-License-Identifier: BSD-2-Clause
// Returns how wide the output may be.
#pragma once

#include <sys/ioctl.h>

#include <cstddef>
#include <cstdint>

namespace ovnitrace {

/// Returns the columns of the terminal `fd`, or `otherwise` if it is not a terminal.
inline size_t terminal_columns(int fd, size_t otherwise = 100) {
  winsize size{};
  return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : otherwise;
}

/// Returns how wide tables may be. In a file or a pipe, no name is cut.
inline size_t table_columns(int fd) {
  return terminal_columns(fd, SIZE_MAX);
}

} // namespace ovnitrace
