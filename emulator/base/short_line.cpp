// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/base/short_line.h"

#include "emulator/base/printable.h"

#include <algorithm>
#include <cstdint>

namespace ovnitrace {

namespace {

bool starts_character(char c) {
  return (uint8_t(c) & 0xc0) != 0x80;
}

} // namespace

std::string short_line(std::string_view text, size_t most_characters) {
  std::string line = printable_line(text);
  size_t bytes = 0, characters = 0;
  for (; bytes < line.size(); bytes++)
    if (starts_character(line[bytes]) && characters++ == most_characters)
      break;
  line.resize(bytes);
  return line;
}

size_t characters_of(std::string_view text) {
  return size_t(std::count_if(text.begin(), text.end(), starts_character));
}

} // namespace ovnitrace
