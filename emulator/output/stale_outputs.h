// SPDX-License-Identifier: BSD-2-Clause
// What a process that was killed has left under a temporary name.
#pragma once

#include <string>
#include <string_view>

namespace ovnitrace {

/// A temporary name is this and letters or digits: ".run1.sqlite.tmp-4711".
std::string temporary_prefix(const std::string &path);

/// Locks what has a temporary name until `fd` is closed, however the process ends. Throws Error if
/// another process has taken it for stale meanwhile.
void lock_output(int fd, const std::string &path);

/// Removes the files and directories below `directory` (a descriptor, or AT_FDCWD) whose path is
/// `prefix` and letters or digits. Keeps what another user owns and what a process has locked.
void remove_stale(int directory, const std::string &prefix);

} // namespace ovnitrace
