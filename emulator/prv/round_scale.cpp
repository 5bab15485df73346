// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/prv/round_scale.h"

#include <algorithm>
#include <bit>

namespace ovnitrace {

namespace {

template <size_t n> constexpr std::array<uint64_t, n> round_numbers() {
  std::array<uint64_t, n> rounds{};
  uint64_t power = 1;
  for (size_t i = 0; i < n; i++) {
    constexpr uint64_t steps[] = {1, 2, 5};
    rounds[i] = steps[i % 3] * power;
    if (i % 3 == 2)
      power *= 10;
  }
  return rounds;
}

/// Returns, by the number of bits of a value, the first round number that is not below the least
/// value with so many bits.
template <size_t n> constexpr std::array<uint8_t, 65> first_rounds() {
  constexpr auto rounds = round_numbers<n>();
  std::array<uint8_t, 65> first{};
  for (size_t bits = 1; bits <= 64; bits++)
    while (first[bits] + 1u < n && rounds[first[bits]] < uint64_t(1) << (bits - 1))
      first[bits]++;
  return first;
}

} // namespace

void RoundScale::add(int64_t value) {
  static constexpr auto rounds = round_numbers<kRounds>();
  static constexpr auto first = first_rounds<kRounds>();
  if (value <= 0)
    return;
  size_t at = first[size_t(std::bit_width(uint64_t(value)))];
  at += at + 1 < kRounds && rounds[at] < uint64_t(value); // the next is twice as large
  counts_[std::min(at, kRounds - 1)]++;
  count_++;
  largest_ = std::max(largest_, value);
}

uint64_t RoundScale::common() const {
  static constexpr auto rounds = round_numbers<kRounds>();
  uint64_t below = 0;
  for (size_t i = 0; i < kRounds; i++) {
    below += counts_[i];
    if (count_ && below >= count_ - count_ / 20)
      return rounds[i];
  }
  return 0;
}

} // namespace ovnitrace
