// SPDX-License-Identifier: BSD-2-Clause
// Locks a trace directory, so that only one process writes to it.
#pragma once

#include <sys/file.h>

#include <cerrno>

namespace ovnitrace {

/// Locks an open directory until `directory` is closed or the process ends. Returns false if
/// another process writes there. Returns true on a file system without locks.
inline bool lock_trace(int directory) {
  return flock(directory, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

} // namespace ovnitrace
