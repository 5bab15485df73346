// SPDX-License-Identifier: BSD-2-Clause
// Measures how far a misspelt word is from a known one.
#pragma once

#include <cstddef>
#include <string_view>

namespace ovnitrace {

/// Returns how many letters to insert, delete, replace or swap with a neighbour to turn `a` into
/// `b`. Case does not matter.
size_t edit_distance(std::string_view a, std::string_view b);

} // namespace ovnitrace
