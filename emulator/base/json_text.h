// SPDX-License-Identifier: BSD-2-Clause
// Parses JSON from a stranger, within bounds.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace ovnitrace {

/// JSON that is nested deeper is refused.
inline constexpr size_t kJsonDepthMax = 64;

/// Parses `text` into `json`. Returns false and the reason in `why` ("is no JSON: …") if `text` is
/// not JSON. The same if it is nested deeper than kJsonDepthMax, has more than `max_values` values
/// (each takes up to 100 bytes), or gives an object one member twice. Takes no memory for refused
/// text.
bool parse_json(const std::string &text, size_t max_values, nlohmann::json &json, std::string &why);

} // namespace ovnitrace
