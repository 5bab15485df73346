// SPDX-License-Identifier: BSD-2-Clause
// JSON that strangers wrote, parsed within bounds.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace ovnitrace {

/// Nothing that is read here is nested deeper.
inline constexpr size_t kJsonDepthMax = 64;

/// Parses `text` into `json`. False, and why in `why` ("is no JSON: …"), if it is no JSON, is
/// nested deeper than kJsonDepthMax, holds more than `max_values` values (each takes up to 100
/// bytes of memory) or gives an object one member twice; that is found before memory is taken.
bool parse_json(const std::string &text, size_t max_values, nlohmann::json &json, std::string &why);

} // namespace ovnitrace
