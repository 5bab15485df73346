// SPDX-License-Identifier: BSD-2-Clause
// Locks a trace directory, so that only one process writes to it.
#pragma once

namespace ovnitrace {

/// Locks an open directory (flock(2)) until `directory` is closed or the process ends. Returns
/// false if another process writes there. Returns true on a file system without locks.
bool lock_trace(int directory);

} // namespace ovnitrace
