// SPDX-License-Identifier: BSD-2-Clause
// Numbers for people.
#pragma once

#include <cstdint>
#include <string>

namespace ovnitrace {

/// A duration in the unit that suits it, with three to four digits: "1.234 s", "56.7 ms", "0".
std::string human_duration(uint64_t ns);

/// A count with its thousands apart: "1,234,567".
std::string human_count(uint64_t count);

/// A count with what is counted: "1 thread", "1,234 threads".
std::string human_count(uint64_t count, const char *one, const char *many);

/// Bytes in powers of 1000, as `df -H` has them: "16 kB", "0.5 MB", "32 MB", "1,234 MB".
std::string human_bytes(uint64_t bytes);

/// A part of a whole as "12.3 %"; "-" of nothing.
std::string human_percent(uint64_t part, uint64_t whole);

} // namespace ovnitrace
