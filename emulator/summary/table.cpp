// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/summary/table.h"

#include "emulator/base/short_line.h"

#include <algorithm>
#include <numeric>

namespace ovnitrace {

Table::Table(Row head, size_t left) : left_(left), heads_(1) {
  Row above(head.size());
  for (size_t i = 0; i < head.size(); i++)
    if (const size_t end = head[i].find('\n'); end != std::string::npos) {
      above[i] = head[i].substr(0, end);
      head[i].erase(0, end + 1);
      heads_ = 2;
    }
  if (heads_ == 2)
    rows_.push_back(std::move(above));
  rows_.push_back(std::move(head));
}

std::vector<size_t> Table::widths(size_t most) const {
  constexpr size_t kLeast = 12, kGap = 2; // columns: of a name that is cut off, between two
  std::vector<size_t> widths(rows_.front().size());
  for (const Row &row : rows_)
    for (size_t i = 0; i < widths.size(); i++)
      widths[i] = std::max(widths[i], columns_of(row[i]));
  size_t all = std::accumulate(widths.begin(), widths.end(), kGap * (widths.size() - 1));
  while (all > most) {
    const auto widest = std::max_element(widths.begin(), widths.begin() + ptrdiff_t(left_));
    if (*widest <= kLeast)
      break;
    --*widest;
    --all;
  }
  return widths;
}

std::string Table::text(size_t most) const {
  const std::vector<size_t> widths = this->widths(most);
  std::string text;
  for (const Row &row : rows_) {
    for (size_t i = 0; i < widths.size(); i++) {
      const std::string cell =
          columns_of(row[i]) > widths[i] ? short_line(row[i], widths[i]) : row[i];
      const std::string space(widths[i] - columns_of(cell), ' ');
      text += i ? "  " : "";
      text += i < left_ ? cell + space : space + cell;
    }
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  }
  return text;
}

} // namespace ovnitrace
