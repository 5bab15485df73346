// SPDX-License-Identifier: BSD-2-Clause
// Formats numbers, and names with numbers, for people.
#pragma once

#include <cstdint>
#include <string>

namespace ovnitrace {

/// Returns a duration in a suitable unit, with three to four digits: "1.234 s", "56.7 ms", "0".
std::string human_duration(uint64_t ns);

/// Returns a count with separated thousands: "1,234,567".
std::string human_count(uint64_t count);

/// Returns a count and what is counted: "1 thread", "1,234 threads".
std::string human_count(uint64_t count, const char *one, const char *many);

/// Returns bytes in powers of 1000, as `df -H` does: "16 kB", "0.5 MB", "32 MB", "1,234 MB".
std::string human_bytes(uint64_t bytes);

/// Returns a part of a whole as "12.3 %"; "-" if the whole is 0.
std::string human_percent(uint64_t part, uint64_t whole);

/// Returns "name (number)", or "otherwise number" if there is no name.
std::string name_and_number(const std::string &name, const char *otherwise, uint64_t number);

} // namespace ovnitrace
