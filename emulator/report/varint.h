// SPDX-License-Identifier: BSD-2-Clause
// Encodes small numbers in few bytes.
#pragma once

#include <cstdint>
#include <string>

namespace ovnitrace {

/// Appends `value`: seven bits per byte, lowest first, bit 7 set if more bytes follow.
inline void put_varint(std::string &bytes, uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    bytes += char(value | 0x80);
  bytes += char(value);
}

/// Maps differences of small size to small numbers: 0, -1, 1, -2, … to 0, 1, 2, 3, …
inline uint64_t zigzag(int64_t value) {
  return uint64_t(value) << 1 ^ uint64_t(value >> 63);
}

} // namespace ovnitrace
