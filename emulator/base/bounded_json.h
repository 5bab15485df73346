// SPDX-License-Identifier: BSD-2-Clause
// Parses JSON from a stranger within bounds: a text, or a file as a stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>

namespace ovnitrace {

/// JSON that is nested deeper is refused.
inline constexpr size_t kJsonDepthMax = 64;

/// Parses `text` into `json`. Returns false and the reason in `why` ("is no JSON: …") if `text` is
/// not JSON. The same if it is nested deeper than kJsonDepthMax, has more than `max_values` values
/// (each takes up to 100 bytes), or gives an object one member twice.
bool parse_json(const std::string &text, size_t max_values, nlohmann::json &json, std::string &why);

struct JsonFileBounds {
  uint64_t max_bytes = 0;         ///< of the file
  size_t max_values = 0;          ///< of kept values; each takes up to 100 bytes of memory
  std::set<std::string> left_out; ///< members of the outermost object to skip
};

/// Reads the regular file at `path`, which must not be a symbolic link, into `json`. Memory grows
/// with what is kept, not with the size of the file. Returns false and the reason in `why` ("it is
/// no JSON: …") if the file cannot be opened, is not JSON or exceeds a bound. The same for nesting
/// deeper than kJsonDepthMax, a text above 1 MiB, and an object with one member twice. Throws Error
/// as open_small_file() and read_whole().
bool read_json_file(const std::string &path, const JsonFileBounds &bounds, nlohmann::json &json,
                    std::string &why);

// The following return a member of an object. If it is missing or of another type, or if `json` is
// no object, they return what the comment says.

/// A number, not a negative one or a fraction; else 0.
uint64_t number_of(const nlohmann::json &json, const char *key);
/// A text, made printable; else an empty one.
std::string text_of(const nlohmann::json &json, const char *key);
bool flag_of(const nlohmann::json &json, const char *key, bool otherwise = false);
/// A list, which `json` owns; else an empty one.
const nlohmann::json &array_of(const nlohmann::json &json, const char *key);

} // namespace ovnitrace
