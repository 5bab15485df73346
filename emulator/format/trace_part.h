// SPDX-License-Identifier: BSD-2-Clause
// Names the parts of a rotated trace (docs/format.md): folders with numbers for names.
#pragma once

#include <string_view>

namespace ovnitrace {

/// Says in each part which bytes of its files belong to the whole.
inline constexpr const char *kPartFile = "part.json";

/// Returns whether a folder of this name can be a part: four to nine digits.
inline bool is_part_name(std::string_view name) {
  return name.size() >= 4 && name.size() <= 9 &&
         name.find_first_not_of("0123456789") == std::string_view::npos;
}

} // namespace ovnitrace
