// SPDX-License-Identifier: BSD-2-Clause
// Draws a figure as SVG.
#pragma once

#include "emulator/plot/figure.h"

#include <string>
#include <string_view>

namespace ovnitrace {

/// Returns a self-contained picture: no script, no link, no font. A column is divided by the shares
/// of states in its time, Running at the bottom. Cooling is hatched, Warming has upright stripes,
/// Throttled level ones, Unknown dots.
std::string svg_of(const Figure &figure);

/// Escapes a text for XML: names may be anything.
std::string xml_text(std::string_view text);

} // namespace ovnitrace
