// SPDX-License-Identifier: BSD-2-Clause
// Whoever writes to a trace directory locks it, so that no two do at once.
#pragma once

namespace ovnitrace {

/// Locks an open directory (flock(2)) until `directory` is closed, however we end. False if another
/// process writes there. A file system without locks has none to wait for: true.
bool lock_trace(int directory);

} // namespace ovnitrace
