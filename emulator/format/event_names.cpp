// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/format/event_names.h"

#include "emulator/format/code_kind.h"

namespace ovnitrace {

namespace {

constexpr std::array<std::string_view, 256> kNames =
    detail::by_code(std::string_view("unknown"), [](const CodeInfo &info) { return info.name; });

} // namespace

std::string_view event_name(uint32_t code) {
  return code < kNames.size() ? kNames[code] : "unknown";
}

std::string kind_name(uint32_t kind) {
  if (kind < kNames.size())
    return std::string(event_name(kind));
  std::string letters = {char(kind >> 16), char(kind >> 8), char(kind)};
  for (char &letter : letters)
    letter = letter == 0 ? '*' : letter > ' ' && letter < 0x7f ? letter : '?';
  return letters;
}

} // namespace ovnitrace
