// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/base/number_text.h"

#include <gtest/gtest.h>
#include <random>
#include <string>

namespace ovnitrace {
namespace {

template <typename Number> std::string digits_of(Number value) {
  char text[kMaxDigits];
  return std::string(text, put_decimal(text, value));
}

TEST(NumberFormat, AgreesWithToStringAroundEveryPowerOfTenAndOfTwo) {
  auto check = [](uint64_t value) {
    EXPECT_EQ(digits_of(value), std::to_string(value));
    EXPECT_EQ(decimal_digits(value), std::to_string(value).size()) << value;
    EXPECT_EQ(digits_of(int64_t(value)), std::to_string(int64_t(value)));
    EXPECT_EQ(digits_of(uint32_t(value)), std::to_string(uint32_t(value)));
  };
  for (uint64_t power = 1;; power *= 10) {
    for (uint64_t value : {power - 1, power, power + 1, 0 - power})
      check(value);
    if (power > UINT64_MAX / 10)
      break;
  }
  for (int bit = 0; bit < 64; bit++)
    for (uint64_t value : {(1ull << bit) - 1, 1ull << bit, (1ull << bit) + 1})
      check(value);
  check(UINT64_MAX);
  EXPECT_EQ(digits_of(INT64_MIN), "-9223372036854775808");
}

TEST(NumberFormat, AgreesWithToStringOnRandomValuesOfEveryLength) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 200000; i++) {
    uint64_t value = random() >> (random() % 64);
    ASSERT_EQ(digits_of(value), std::to_string(value));
    int64_t negative = -int64_t(value >> 1);
    ASSERT_EQ(digits_of(negative), std::to_string(negative));
  }
}

} // namespace
} // namespace ovnitrace
