// SPDX-License-Identifier: BSD-2-Clause
// Names that come from traced programs, made fit for Paraver's line-based files.
#pragma once

#include <string>
#include <string_view>

namespace ovnitrace {

/// `text` as one line that can be printed. Blanks are trimmed, for Paraver splits lines there;
/// `fallback` is taken for what is empty then, as Paraver drops an entry without a label.
std::string one_line_label(std::string_view text, std::string_view fallback);

} // namespace ovnitrace
