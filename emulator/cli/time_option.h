// SPDX-License-Identifier: BSD-2-Clause
// Reads a duration as a person writes it on a command line.
#pragma once

#include <cstdint>
#include <string>

namespace ovnitrace {

/// Parses "1.5s", "200ms", "30us", "100ns", "2m", "1h", or a number of seconds, to ns. Returns
/// false for anything else, and for a negative or too large time.
bool parse_time(const std::string &text, uint64_t &ns);

} // namespace ovnitrace
