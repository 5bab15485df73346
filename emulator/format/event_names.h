// SPDX-License-Identifier: BSD-2-Clause
// Gives the names of events, as the manual of FTrace and docs/format.md write them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ovnitrace {

/// Returns the name of an FTrace code (0 … 255), "unknown" if it has none. Static storage.
std::string_view event_name(uint32_t code);

/// Returns the name of any kind of event (Event::kind): event_name() of an FTrace code, or the
/// three letters of an ovni event. A letter of 0 (all of a category) is *, anything that is not a
/// letter is ?.
std::string kind_name(uint32_t kind);

} // namespace ovnitrace
