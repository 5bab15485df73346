// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/summary/table.h"

#include "emulator/base/short_line.h"

#include <algorithm>

namespace ovnitrace {

std::string Table::text() const {
  std::vector<size_t> widths(rows_.front().size());
  for (const Row &row : rows_)
    for (size_t i = 0; i < widths.size(); i++)
      widths[i] = std::max(widths[i], characters_of(row[i]));
  std::string text;
  for (const Row &row : rows_) {
    for (size_t i = 0; i < widths.size(); i++) {
      const std::string space(widths[i] - characters_of(row[i]), ' ');
      text += i ? "  " : "";
      text += i < left_ ? row[i] + space : space + row[i];
    }
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  }
  return text;
}

} // namespace ovnitrace
