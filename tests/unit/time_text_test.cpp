// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/prv/time_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace ovnitrace {
namespace {

std::string put(TimeText &text, uint64_t time) {
  char bytes[TimeText::kRoom];
  text.set(time);
  return std::string(bytes, text.put(bytes));
}

TEST(TimeText, IsWhatToStringSaysWhateverTheTimeBeforeWas) {
  std::vector<uint64_t> times = {0, 1, INT64_MAX, UINT64_MAX};
  for (uint64_t power = 10; power < UINT64_MAX / 10; power *= 10)
    times.insert(times.end(), {power - 1, power, power + 1, 3 * power});
  std::mt19937_64 random(1);
  for (int i = 0; i < 1000; i++)
    times.push_back(random() >> (random() % 64));
  for (int round = 0; round < 20; round++) {
    TimeText text;
    for (const uint64_t time : times)
      ASSERT_EQ(put(text, time), std::to_string(time));
    std::shuffle(times.begin(), times.end(), random);
  }
}

TEST(TimeText, GrowsAcrossTheDigitsThatItKeeps) {
  TimeText text;
  for (uint64_t time = 99'999'900; time < 100'000'100; time++)
    ASSERT_EQ(put(text, time), std::to_string(time));
  for (uint64_t time = 9'999'999'900; time < 10'000'000'100; time++)
    ASSERT_EQ(put(text, time), std::to_string(time));
}

} // namespace
} // namespace ovnitrace
