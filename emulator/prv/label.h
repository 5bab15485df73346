// SPDX-License-Identifier: BSD-2-Clause
// Makes names from traced programs fit for Paraver's line-based files.
#pragma once

#include <string>
#include <string_view>

namespace ovnitrace {

/// Returns `text` as one printable line. It has no blanks at its ends: Paraver splits lines there.
/// Returns `fallback` if nothing is left: Paraver drops an entry without a label.
std::string one_line_label(std::string_view text, std::string_view fallback);

} // namespace ovnitrace
