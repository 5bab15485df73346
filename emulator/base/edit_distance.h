// SPDX-License-Identifier: BSD-2-Clause
// How far a misspelt word is from a known one.
#pragma once

#include <cstddef>
#include <string_view>

namespace ovnitrace {

/// Counts the letters to insert, delete, replace or swap with their neighbour that turn `a` into
/// `b`. Capitals are as small letters.
size_t edit_distance(std::string_view a, std::string_view b);

} // namespace ovnitrace
