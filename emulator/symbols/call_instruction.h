// SPDX-License-Identifier: BSD-2-Clause
// Recognizes the instruction behind which a return address points.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ovnitrace {

/// Bytes in front of a return address that say whether a call is there.
inline constexpr size_t kMostCallBytes = 7;

/// Returns how many bytes an indirect call of x86-64 has that starts with `code`, without prefixes;
/// 0 if there is no such call.
constexpr size_t indirect_call_bytes(std::string_view code) {
  const auto byte = [&](size_t n) { return n < code.size() ? uint8_t(code[n]) : 0u; };
  const unsigned mode = byte(1) >> 6, what = byte(1) >> 3 & 7, base = byte(1) & 7;
  if (code.size() < 2 || byte(0) != 0xff || what != 2)
    return 0;
  if (mode == 3) // a register
    return 2;
  const bool indexed = base == 4;
  const bool far = mode == 2 || (mode == 0 && (indexed ? (byte(2) & 7) == 5 : base == 5));
  return 2 + indexed + (far ? 4 : mode == 1 ? 1 : 0);
}

/// Returns whether `code`, which ends at an address, ends in a call of a function on x86-64. Other
/// instructions can look like one.
constexpr bool ends_in_call_x86(std::string_view code) {
  constexpr size_t direct = 5; // e8, and a distance of 4 bytes
  if (code.size() >= direct && code[code.size() - direct] == '\xe8')
    return true;
  for (size_t n = 2; n <= std::min(code.size(), kMostCallBytes); n++)
    if (indirect_call_bytes(code.substr(code.size() - n)) == n)
      return true;
  return false;
}

/// The same for a call of the kernel.
constexpr bool ends_in_system_call_x86(std::string_view code) {
  return code.ends_with("\x0f\x05");
}

} // namespace ovnitrace
