// SPDX-License-Identifier: BSD-2-Clause
// Says where distributions put the debug data of a file.
#pragma once

#include <string>
#include <vector>

namespace ovnitrace {

/// Returns whether a text, which need not be trusted, is a build id in hexadecimal digits.
bool is_build_id(const std::string &text);

/// Returns the debug file below /usr/lib/debug of a build id; empty if it is no build id.
std::string debug_file_of(const std::string &build_id);

/// Returns the places to look at, the best first. `path`: the file, which is absolute; `link`: the
/// name in its .gnu_debuglink, or an empty text.
std::vector<std::string> debug_places(const std::string &path, const std::string &build_id,
                                      const std::string &link);

} // namespace ovnitrace
