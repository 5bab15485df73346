// SPDX-License-Identifier: BSD-2-Clause
// Removes from untrusted names what terminals and line-based files cannot show.
#pragma once

#include <string>
#include <string_view>

namespace ovnitrace {

/// Returns `text` as one line of printable UTF-8. Threads and hosts may have any name, with line
/// ends, escape sequences, characters that turn the direction of text, or half a character. Each
/// such byte becomes '?', and a tab becomes a blank.
std::string printable_line(std::string_view text);

/// Returns a word as a shell takes it, quoted if need be. Control characters become '?'.
std::string shell_word(std::string_view text);

} // namespace ovnitrace
