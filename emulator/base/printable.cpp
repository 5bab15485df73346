// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/base/printable.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace ovnitrace {

namespace {

/// Returns the bytes of the UTF-8 character at the start of `text`. Returns 0 for anything else
/// (RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF) and for a C1 control
/// character.
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

/// Returns the code point of a character of two to four bytes.
uint32_t code_point(std::string_view character) {
  uint32_t point = uint8_t(character[0]) & (0x7f >> character.size());
  for (const char byte : character.substr(1))
    point = point << 6 | (uint8_t(byte) & 0x3f);
  return point;
}

/// Returns whether a character is invisible and changes text around it. Such characters turn the
/// direction of text, break the line or hide in it (Unicode's categories Cf, Zl and Zp).
bool is_invisible(uint32_t point) {
  return point == 0xad || point == 0x061c || (point >= 0x200b && point <= 0x200f) ||
         (point >= 0x2028 && point <= 0x202e) || (point >= 0x2060 && point <= 0x206f) ||
         point == 0xfeff || (point >= 0xfff9 && point <= 0xfffb) ||
         (point >= 0xe0000 && point <= 0xe007f);
}

} // namespace

std::string printable_line(std::string_view text) {
  if (std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7f; }))
    return std::string(text); // as nearly all are
  std::string line;
  while (!text.empty()) {
    size_t size = utf8_size(text);
    uint8_t first = uint8_t(text.front());
    if (size == 0 || first < 0x20 || first == 0x7f ||
        (size > 1 && is_invisible(code_point(text.substr(0, size)))))
      line += first == '\t' ? ' ' : '?';
    else
      line += text.substr(0, size);
    text.remove_prefix(size ? size : 1);
  }
  return line;
}

std::string shell_word(std::string_view text) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:@%+,-=";
  // "=word" is a path to zsh.
  if (!text.empty() && text.front() != '=' && text.find_first_not_of(plain) == text.npos)
    return std::string(text);
  std::string word = "'";
  for (const char c : text)
    word += c == '\'' ? "'\\''" : std::string(1, uint8_t(c) < 0x20 ? '?' : c);
  return word + "'";
}

} // namespace ovnitrace
