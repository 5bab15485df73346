// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/summary/table.h"

#include <algorithm>
#include <cstdint>

namespace ovnitrace {

namespace {

/// Characters, not bytes: what follows the first byte of a UTF-8 sequence takes no room.
size_t width_of(const std::string &cell) {
  return size_t(
      std::count_if(cell.begin(), cell.end(), [](char c) { return (uint8_t(c) & 0xc0) != 0x80; }));
}

} // namespace

std::string Table::text() const {
  std::vector<size_t> widths(rows_.front().size());
  for (const Row &row : rows_)
    for (size_t i = 0; i < widths.size(); i++)
      widths[i] = std::max(widths[i], width_of(row[i]));
  std::string text;
  for (const Row &row : rows_) {
    for (size_t i = 0; i < widths.size(); i++) {
      const std::string space(widths[i] - width_of(row[i]), ' ');
      text += i ? "  " : "";
      text += i < left_ ? row[i] + space : space + row[i];
    }
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  }
  return text;
}

} // namespace ovnitrace
