// SPDX-License-Identifier: BSD-2-Clause
// A time as a person writes it on a command line.
#pragma once

#include <cstdint>
#include <string>

namespace ovnitrace {

/// "1.5s", "200ms", "30us", "100ns", "2m", "1h"; a number alone is seconds. In ns. False if it is
/// none of these, negative, or too large.
bool parse_time(const std::string &text, uint64_t &ns);

} // namespace ovnitrace
