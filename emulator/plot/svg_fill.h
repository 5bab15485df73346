// SPDX-License-Identifier: BSD-2-Clause
// Colours and patterns of states in an SVG image.
#pragma once

#include "emulator/format/state_table.h"

#include <string>

namespace ovnitrace {

/// Returns the value of `fill` for a state: a colour for white paper, or a reference to a pattern
/// of fill_patterns().
std::string fill_of(ShownState state);

/// Returns the definitions of the patterns, for `<defs>`. The id of each is the name of its state;
/// that of lost events is `dark`.
std::string fill_patterns();

} // namespace ovnitrace
