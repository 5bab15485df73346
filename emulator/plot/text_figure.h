// SPDX-License-Identifier: BSD-2-Clause
// A figure as lines of text, for a terminal or a file.
#pragma once

#include "emulator/plot/figure.h"

#include <string>

namespace ovnitrace {

enum class TextStyle {
  plain,      ///< a character of ASCII for a column
  indexed,    ///< blocks in the nearest of a terminal's 256 colours
  true_color, ///< blocks in the colours of the palette
};

/// Columns that a figure can have in lines of `width` characters: there are labels beside it.
size_t text_columns(size_t width);

/// In colours a column is divided: below what ran, or else the longer of its waits, in eighths;
/// above it the longest other state. Plain it is the longest of what ran or waited, where that was
/// at least half of it; else ':' where any did, else the longest state.
std::string text_of(const Figure &figure, TextStyle style);

} // namespace ovnitrace
