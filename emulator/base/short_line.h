// SPDX-License-Identifier: BSD-2-Clause
// A name that a table or a picture has room for.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ovnitrace {

/// printable_line() of a text, cut off after so many characters.
std::string short_line(std::string_view text, size_t most_characters);

/// How many characters a text of UTF-8 has: bytes that continue one are none.
size_t characters_of(std::string_view text);

} // namespace ovnitrace
