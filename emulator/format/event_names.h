// SPDX-License-Identifier: BSD-2-Clause
// The names of events, as the manual of FTrace and docs/format.md write them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ovnitrace {

/// The name of an FTrace code (0 … 255), "unknown" if it has none. Static storage.
std::string_view event_name(uint32_t code);

/// The name of any kind of event (Event::kind): event_name() of an FTrace code, the three letters
/// of an event of an ovni stream, * for a letter of 0 (all of a category), ? for what is no letter.
std::string kind_name(uint32_t kind);

} // namespace ovnitrace
