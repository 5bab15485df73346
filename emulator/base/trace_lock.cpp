// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/base/trace_lock.h"

#include <sys/file.h>

#include <cerrno>

namespace ovnitrace {

bool lock_trace(int directory) {
  return flock(directory, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

} // namespace ovnitrace
