// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/base/short_line.h"

#include "emulator/base/printable.h"

#include <locale.h>
#include <wchar.h>

#include <algorithm>
#include <cstdint>

namespace ovnitrace {

namespace {

bool starts_character(char c) {
  return (uint8_t(c) & 0xc0) != 0x80;
}

/// The C library's table of widths, for any locale of the user.
class Utf8Locale {
public:
  Utf8Locale() : old_(uselocale(utf8())) {}
  ~Utf8Locale() { uselocale(old_); }
  Utf8Locale(const Utf8Locale &) = delete;
  Utf8Locale &operator=(const Utf8Locale &) = delete;

private:
  static locale_t utf8() {
    static const locale_t made = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
    return made; // 0, where the C library has none: characters are one column then
  }
  const locale_t old_;
};

/// Returns the columns of the first character of a UTF-8 text.
size_t columns_of_first(std::string_view text, size_t bytes) {
  uint32_t point = uint8_t(text[0]);
  if (bytes > 1)
    point &= 0x7fu >> bytes;
  for (size_t n = 1; n < bytes; n++)
    point = point << 6 | (uint8_t(text[n]) & 0x3f);
  const int columns = wcwidth(wchar_t(point));
  return columns < 0 ? 1 : size_t(columns);
}

/// Where a text is cut to take at most `most` columns, and how many it takes then.
struct Place {
  size_t bytes = 0, columns = 0;
};

Place place_of(std::string_view text, size_t most) {
  const Utf8Locale locale;
  Place place;
  while (place.bytes < text.size()) {
    const std::string_view rest = text.substr(place.bytes);
    size_t bytes = 1;
    while (bytes < rest.size() && !starts_character(rest[bytes]))
      bytes++;
    const size_t columns = columns_of_first(rest, std::min<size_t>(bytes, 4));
    if (place.columns + columns > most)
      break;
    place.bytes += bytes;
    place.columns += columns;
  }
  return place;
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return uint8_t(c) < 0x80; });
}

} // namespace

std::string short_line(std::string_view text, size_t most_columns) {
  std::string line = printable_line(text);
  if (columns_of(line) <= most_columns)
    return line;
  line.resize(place_of(line, most_columns - std::min<size_t>(most_columns, 1)).bytes);
  return line + (most_columns ? "…" : "");
}

size_t columns_of(std::string_view text) {
  return is_ascii(text) ? text.size() : place_of(text, SIZE_MAX).columns;
}

std::string wrapped(std::string_view text, size_t most_columns, size_t first, size_t next) {
  constexpr size_t kText = 100;
  const size_t most = most_columns == SIZE_MAX ? kText : most_columns;
  std::string lines;
  size_t column = first;
  for (size_t at = 0; at < text.size();) {
    const std::string_view word = text.substr(at, text.find(' ', at) - at);
    const size_t columns = columns_of(word);
    const bool fits = column + 1 + columns <= most;
    if (at) {
      lines += fits ? " " : '\n' + std::string(next, ' ');
      column = fits ? column + 1 : next;
    }
    lines += word;
    column += columns;
    at += word.size() + 1;
  }
  return lines;
}

} // namespace ovnitrace
