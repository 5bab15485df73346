// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/cli/terminal.h"

#include <sys/ioctl.h>

namespace ovnitrace {

size_t terminal_columns(int fd) {
  constexpr size_t kNoTerminal = 100;
  winsize size{};
  return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : kNoTerminal;
}

} // namespace ovnitrace
