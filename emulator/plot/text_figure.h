// SPDX-License-Identifier: BSD-2-Clause
// Draws a figure as lines of text, for a terminal or a file.
#pragma once

#include "emulator/plot/figure.h"

#include <string>

namespace ovnitrace {

enum class TextStyle {
  plain,      ///< an ASCII character for each column
  indexed,    ///< blocks in the nearest of a terminal's 256 colours
  true_color, ///< blocks in the colours of the palette
};

/// Returns how many columns fit lines of `width` characters, beside the labels.
size_t text_columns(size_t width);

/// Returns the lines. In colours, a column is divided in eighths. Its lower part is running or else
/// the longer wait, its upper part the longest other state. In plain text, it shows running or
/// waiting if that was at least half of it, ':' if there was some, or else the longest state.
std::string text_of(const Figure &figure, TextStyle style);

} // namespace ovnitrace
