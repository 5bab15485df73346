// SPDX-License-Identifier: BSD-2-Clause
#include "user/launch/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

namespace ovnitrace {

void open_standard_streams() {
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++)
    if (fcntl(stream, F_GETFD) < 0 &&
        open("/dev/null", O_RDWR | O_CLOEXEC) < 0) // takes the lowest number
      _exit(1);                                    // there is nowhere to say why
}

} // namespace ovnitrace
