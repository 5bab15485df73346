// SPDX-License-Identifier: BSD-2-Clause
// Text in the columns of a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ovnitrace {

/// Returns printable_line() of a text in at most so many columns. Where that cuts it off, the last
/// column is an ellipsis.
std::string short_line(std::string_view text, size_t most_columns);

/// Returns how many columns a text of UTF-8 takes: two for a wide character, as of Chinese, none
/// for one that is put over the one before it.
size_t columns_of(std::string_view text);

} // namespace ovnitrace
