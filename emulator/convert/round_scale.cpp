// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/convert/round_scale.h"

#include <algorithm>

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

} // namespace

void RoundScale::add(int64_t value) {
  static constexpr auto rounds = round_numbers<kRounds>();
  if (value <= 0)
    return;
  const size_t at =
      size_t(std::lower_bound(rounds.begin(), rounds.end(), uint64_t(value)) - rounds.begin());
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
