// SPDX-License-Identifier: BSD-2-Clause
// Reads a small text file whole, with a bound.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace ovnitrace {

/// Whether the last part of a path may be a symbolic link. It may if a person named the file, but
/// not in a trace directory, which anybody may have made.
enum class Links { follow, refuse };

/// Returns the contents of the regular file at `path`. Returns nothing and the reason in `error` if
/// it cannot be read or has more than `limit` bytes.
std::optional<std::string> read_small_file(const std::string &path, size_t limit,
                                           std::string &error, Links links = Links::follow);

/// Returns why a file cannot be opened, from errno. Says that a link is not followed if it is a
/// link.
std::string open_failure(int error);

} // namespace ovnitrace
