// SPDX-License-Identifier: BSD-2-Clause
// A figure as SVG.
#pragma once

#include "emulator/plot/figure.h"

#include <string>
#include <string_view>

namespace ovnitrace {

/// Stands alone: no script, no link, no font. A column is divided by the shares of the states in
/// its time, Running at the bottom. Cooling is hatched, Warming has upright stripes, Throttled
/// level ones, Unknown has dots.
std::string svg_of(const Figure &figure);

/// A text as XML: names may be anything.
std::string xml_text(std::string_view text);

} // namespace ovnitrace
