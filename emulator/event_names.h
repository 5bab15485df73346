// SPDX-License-Identifier: BSD-2-Clause
// The names of events, as the manual of FTrace and docs/format.md write them.
#pragma once

#include <cstdint>
#include <string_view>

namespace ovnitrace {

/// The name of an FTrace code (0 … 255), "unknown" if it has none. Static storage.
std::string_view event_name(uint32_t code);

} // namespace ovnitrace
