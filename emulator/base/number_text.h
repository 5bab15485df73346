// SPDX-License-Identifier: BSD-2-Clause
// Converts integers to decimal digits, fast enough for the millions of lines of a trace: no printf,
// no locale, eight digits in a step.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace ovnitrace {

inline constexpr uint32_t kMaxDigits = 20; ///< most bytes of a number, with its sign

namespace detail {
inline constexpr std::array<uint64_t, 20> kPowersOfTen = [] {
  std::array<uint64_t, 20> powers = {}; // the first stays 0, so that 0 has one digit
  for (uint64_t n = 1, power = 10; n < powers.size(); n++, power *= 10)
    powers[n] = power;
  return powers;
}();
} // namespace detail

/// Returns the number of decimal digits of `value`; 0 has one.
inline uint32_t decimal_digits(uint64_t value) {
  uint32_t bits = 64u - uint32_t(__builtin_clzll(value | 1));
  uint32_t digits = bits * 1233 >> 12; // 1233 / 4096 is log10(2), close enough for 64 bits
  return digits + (value >= detail::kPowersOfTen[digits]);
}

/// Returns the eight digits of `value`, below 10^8, with leading zeros and the first digit in the
/// lowest byte. Splits all parts at once: halves of four digits, then pairs, then digits.
inline uint64_t eight_digits(uint32_t value) {
  const uint64_t halves = value / 10000 | uint64_t(value % 10000) << 32;
  const uint64_t high = (halves * 10486 >> 20) & 0x7f0000007f; // / 100, exact below 10^4
  const uint64_t pairs = high | (halves - 100 * high) << 16;
  const uint64_t tens = (pairs * 103 >> 10) & 0x000f000f000f000f; // / 10, exact below 100
  return (tens | (pairs - 10 * tens) << 8) | 0x3030303030303030;
}

/// Writes eight digits at `at` and returns their end.
inline char *put_eight_digits(char *at, uint32_t value) {
  static_assert(std::endian::native == std::endian::little, "the lowest byte comes first");
  const uint64_t digits = eight_digits(value);
  memcpy(at, &digits, sizeof digits);
  return at + sizeof digits;
}

/// Writes the digits of `value` at `at`, where kMaxDigits bytes are free, and returns their end.
inline char *put_decimal(char *at, uint64_t value) {
  constexpr uint64_t kEight = 100'000'000;
  if (value >= kEight) [[unlikely]]
    return put_eight_digits(put_decimal(at, value / kEight), uint32_t(value % kEight));
  const uint32_t size = decimal_digits(value);
  const uint64_t digits = eight_digits(uint32_t(value)) >> (64 - 8 * size);
  memcpy(at, &digits, sizeof digits);
  return at + size;
}

/// Does the same as put_decimal() for a signed value.
inline char *put_decimal(char *at, int64_t value) {
  if (value >= 0)
    return put_decimal(at, uint64_t(value));
  *at = '-';
  return put_decimal(at + 1, 0 - uint64_t(value));
}

inline char *put_decimal(char *at, uint32_t value) {
  return put_decimal(at, uint64_t(value));
}

} // namespace ovnitrace
