// SPDX-License-Identifier: BSD-2-Clause
// Fits text into columns of a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ovnitrace {

/// Returns printable_line() of a text, shortened to so many columns. The last column of a shortened
/// text is an ellipsis.
std::string short_line(std::string_view text, size_t most_columns);

/// Returns how many columns a UTF-8 text takes: two for a wide character, as of Chinese, 0 for a
/// combining one.
size_t columns_of(std::string_view text);

/// Returns the text in lines of at most so many columns, broken between words. The first line has
/// `first` columns before the text, each other one begins with `next` blanks. SIZE_MAX stands for
/// an output of any width: lines have at most 100 columns then.
std::string wrapped(std::string_view text, size_t most_columns, size_t first = 0, size_t next = 0);

} // namespace ovnitrace
