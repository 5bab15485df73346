// SPDX-License-Identifier: BSD-2-Clause
// The name of a thread, as EXT_name records tell it.
#pragma once

#include "emulator/base/printable.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <string>

namespace ovnitrace {

/// Up to 16 characters, four a record. The first record begins a new name.
class ThreadName {
public:
  /// Sets characters 4 * part … 4 * part + 3, part below 4.
  void set(unsigned part, uint32_t four) {
    if (part == 0)
      characters_.fill(0);
    std::memcpy(characters_.data() + part * 4, &four, 4);
  }
  bool empty() const { return characters_[0] == 0; }

  /// As a thread may name itself anything, what is not printable becomes '?'.
  std::string text() const {
    return printable_line({characters_.data(), strnlen(characters_.data(), characters_.size())});
  }

private:
  std::array<char, 16> characters_{};
};

} // namespace ovnitrace
