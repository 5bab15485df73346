// SPDX-License-Identifier: BSD-2-Clause
// Formats increasing times: most digits are those of the time before.
#pragma once

#include "emulator/base/number_text.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace ovnitrace {

/// The text of one time. Its digits above 0.1 s are made again only when they change.
class TimeText {
public:
  /// Makes the text of `time`, ns.
  void set(uint64_t time) {
    if (const uint64_t high = time / kLow; high != high_ || !size_) [[unlikely]] {
      high_ = high;
      high_size_ = high ? size_t(put_decimal(text_.data(), high) - text_.data()) : 0;
    }
    const uint32_t low = uint32_t(time - high_ * kLow);
    char *at = text_.data() + high_size_;
    size_ = size_t((high_ ? put_eight_digits(at, low) : put_decimal(at, low)) - text_.data());
  }

  /// Copies it to `at`, where kRoom bytes are free, and returns its end.
  char *put(char *at) const {
    memcpy(at, text_.data(), text_.size());
    return at + size_;
  }

  static constexpr size_t kRoom = 32; ///< bytes

private:
  static constexpr uint64_t kLow = 100'000'000; ///< range of eight digits
  std::array<char, kRoom> text_;
  size_t size_ = 0; ///< 0: no time was given yet
  uint64_t high_ = 0;
  size_t high_size_ = 0;
};

} // namespace ovnitrace
