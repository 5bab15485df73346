// SPDX-License-Identifier: BSD-2-Clause
// Removes what a killed process has left under temporary names.
#pragma once

#include <string>

namespace ovnitrace {

/// Returns the start of temporary names for a path. Letters or digits follow it:
/// ".run1.sqlite.tmp-4711".
std::string temporary_prefix(const std::string &path);

/// Locks a file with a temporary name until `fd` is closed or the process ends. Throws Error if
/// another process has taken it for stale meanwhile.
void lock_output(int fd, const std::string &path);

/// Removes files and directories below `directory` (a descriptor, or AT_FDCWD) whose path is
/// `prefix` and letters or digits. Keeps those that another user owns or a process has locked.
void remove_stale(int directory, const std::string &prefix);

} // namespace ovnitrace
