// SPDX-License-Identifier: BSD-2-Clause
// Names that programs and strangers chose, made fit for terminals and line-based files.
#pragma once

#include <string>
#include <string_view>

namespace ovnitrace {

/// `text` as printable UTF-8 in one line: a thread or a host may be called anything, line ends,
/// escape sequences, characters that turn its direction and half a character included. Each such
/// byte becomes '?', a tab a blank.
std::string printable_line(std::string_view text);

} // namespace ovnitrace
