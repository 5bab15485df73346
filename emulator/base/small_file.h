// SPDX-License-Identifier: BSD-2-Clause
// Opens a file of limited size, and reads a small text file whole.
#pragma once

#include "emulator/base/unique_fd.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace ovnitrace {

/// Whether the last part of a path may be a symbolic link. It may if a person named the file, but
/// not in a trace directory, which anybody may have made.
enum class Links { follow, refuse };

/// Opens the regular file at `path`. Returns nothing and the reason in `error` if we may
/// not read it, or if it has more than `limit` bytes. Throws Error if the machine fails (an I/O
/// error, no memory, too many open files): a second try could succeed, and would read something
/// else.
UniqueFd open_small_file(const std::string &path, uint64_t limit, std::string &error,
                         Links links = Links::follow);

/// Reads up to `size` bytes from `offset` on, and less only at the end of the file. Throws Error
/// with `path`.
size_t read_whole(int file, uint64_t offset, char *bytes, size_t size, const std::string &path);

/// Returns the contents of a file. Fails as open_small_file() and read_whole().
std::optional<std::string> read_small_file(const std::string &path, size_t limit,
                                           std::string &error, Links links = Links::follow);

/// Returns why a file cannot be opened, from errno. Says that a link is not followed if it is a
/// link.
std::string open_failure(int error);

} // namespace ovnitrace
