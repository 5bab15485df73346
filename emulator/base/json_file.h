// SPDX-License-Identifier: BSD-2-Clause
// A JSON file that strangers wrote, read in a stream within bounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>

namespace ovnitrace {

struct JsonFileBounds {
  uint64_t max_bytes = 0;         ///< of the file
  size_t max_values = 0;          ///< of those that are kept; each takes up to 100 bytes of memory
  std::set<std::string> left_out; ///< members of the outermost object that are not kept
};

/// Reads the regular file at `path`, no symbolic link, into `json`. Memory depends on what is kept,
/// not on the size of the file. False, and why in `why` ("it is no JSON: …"), if it cannot be read,
/// is no JSON, is nested deeper than kJsonDepthMax, has a text above 1 MiB, gives an object one
/// member twice, or exceeds a bound.
bool read_json_file(const std::string &path, const JsonFileBounds &bounds, nlohmann::json &json,
                    std::string &why);

} // namespace ovnitrace
