// SPDX-License-Identifier: BSD-2-Clause
// A small text file read whole, with a bound.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace ovnitrace {

/// The contents of the regular file at `path`; nothing, and why in `error`, if it cannot be read or
/// has more than `limit` bytes.
std::optional<std::string> read_small_file(const std::string &path, size_t limit,
                                           std::string &error);

} // namespace ovnitrace
