// SPDX-License-Identifier: BSD-2-Clause
// Small numbers in few bytes.
#pragma once

#include <cstdint>
#include <string>

namespace ovnitrace {

/// Appends `value`: seven bits a byte, the lowest first, bit 7 where more bytes follow.
inline void put_varint(std::string &bytes, uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    bytes += char(value | 0x80);
  bytes += char(value);
}

/// A difference as a number that is small where its size is: 0, -1, 1, -2, … as 0, 1, 2, 3, …
inline uint64_t zigzag(int64_t value) {
  return uint64_t(value) << 1 ^ uint64_t(value >> 63);
}

} // namespace ovnitrace
