// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/base/printable.h"

#include <cstddef>
#include <cstdint>

namespace ovnitrace {

namespace {

/// Bytes of the UTF-8 character that `text` starts with, 0 if it starts with none (RFC 3629: no
/// overlong forms, no surrogates, nothing above U+10FFFF) or with a C1 control character.
size_t utf8_size(std::string_view text) {
  auto byte = [text](size_t i) { return i < text.size() ? uint8_t(text[i]) : uint8_t(0); };
  auto tail = [byte](size_t i) { return (byte(i) & 0xc0) == 0x80; };
  uint8_t lead = byte(0);
  if (lead < 0x80)
    return 1;
  if (lead >= 0xc2 && lead <= 0xdf)
    return tail(1) && !(lead == 0xc2 && byte(1) < 0xa0) ? 2 : 0;
  if ((lead & 0xf0) == 0xe0)
    return tail(1) && tail(2) && !(lead == 0xe0 && byte(1) < 0xa0) &&
                   !(lead == 0xed && byte(1) >= 0xa0)
               ? 3
               : 0;
  if (lead >= 0xf0 && lead <= 0xf4)
    return tail(1) && tail(2) && tail(3) && !(lead == 0xf0 && byte(1) < 0x90) &&
                   !(lead == 0xf4 && byte(1) >= 0x90)
               ? 4
               : 0;
  return 0;
}

} // namespace

std::string printable_line(std::string_view text) {
  std::string line;
  while (!text.empty()) {
    size_t size = utf8_size(text);
    uint8_t first = uint8_t(text.front());
    if (size == 0 || first < 0x20 || first == 0x7f)
      line += first == '\t' ? ' ' : '?';
    else
      line += text.substr(0, size);
    text.remove_prefix(size ? size : 1);
  }
  return line;
}

} // namespace ovnitrace
