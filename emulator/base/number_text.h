// SPDX-License-Identifier: BSD-2-Clause
// Integers to decimal digits, for the millions of lines of a trace: no printf, no locale, two
// digits a step.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

namespace ovnitrace {

inline constexpr uint32_t kMaxDigits = 20; ///< bytes that one number takes at most, sign included

namespace detail {
constexpr std::array<char, 200> make_digit_pairs() {
  std::array<char, 200> pairs{};
  for (int i = 0; i < 100; i++) {
    pairs[size_t(2 * i)] = char('0' + i / 10);
    pairs[size_t(2 * i + 1)] = char('0' + i % 10);
  }
  return pairs;
}
inline constexpr std::array<char, 200> kDigitPairs = make_digit_pairs();
inline constexpr std::array<uint64_t, 20> kPowersOfTen = {
    0ull, // so that 0 has one digit
    10ull,
    100ull,
    1000ull,
    10000ull,
    100000ull,
    1000000ull,
    10000000ull,
    100000000ull,
    1000000000ull,
    10000000000ull,
    100000000000ull,
    1000000000000ull,
    10000000000000ull,
    100000000000000ull,
    1000000000000000ull,
    10000000000000000ull,
    100000000000000000ull,
    1000000000000000000ull,
    10000000000000000000ull,
};
} // namespace detail

/// How many decimal digits `value` has; 0 has one.
inline uint32_t decimal_digits(uint64_t value) {
  uint32_t bits = 64u - uint32_t(__builtin_clzll(value | 1));
  uint32_t digits = bits * 1233 >> 12; // 1233 / 4096 is log10(2), close enough for 64 bits
  return digits + (value >= detail::kPowersOfTen[digits]);
}

/// Writes the digits of `value` at `at`, where kMaxDigits bytes are free, and returns their end.
inline char *put_decimal(char *at, uint64_t value) {
  if (value < 10) {
    *at = char('0' + value);
    return at + 1;
  }
  char *end = at + decimal_digits(value);
  char *p = end;
  while (value >= 100) {
    p -= 2;
    memcpy(p, &detail::kDigitPairs[value % 100 * 2], 2);
    value /= 100;
  }
  if (value >= 10)
    memcpy(p - 2, &detail::kDigitPairs[value * 2], 2);
  else
    p[-1] = char('0' + value);
  return end;
}

/// Writes `value`, below 10^8, with leading zeros, and returns the end of the eight digits.
inline char *put_eight_digits(char *at, uint32_t value) {
  const uint32_t high = value / 10000, low = value % 10000;
  memcpy(at, &detail::kDigitPairs[high / 100 * 2], 2);
  memcpy(at + 2, &detail::kDigitPairs[high % 100 * 2], 2);
  memcpy(at + 4, &detail::kDigitPairs[low / 100 * 2], 2);
  memcpy(at + 6, &detail::kDigitPairs[low % 100 * 2], 2);
  return at + 8;
}

/// put_decimal() of a signed value.
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
