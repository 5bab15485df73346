// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/summary/table.h"

#include "emulator/base/short_line.h"

#include <algorithm>
#include <numeric>

namespace ovnitrace {

namespace {

size_t sum_of(const std::vector<size_t> &widths, size_t gap) {
  return std::accumulate(widths.begin(), widths.end(), gap * (widths.size() - 1));
}

} // namespace

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

Table Table::without_percentages() const {
  Table rest({});
  rest.left_ = left_;
  rest.heads_ = heads_;
  rest.rows_.assign(rows_.size(), {});
  const Row &head = rows_[heads_ - 1];
  for (size_t n = 0; n < rows_.size(); n++)
    for (size_t i = 0; i < head.size(); i++)
      if (head[i] != "%")
        rest.rows_[n].push_back(rows_[n][i]);
  return rest;
}

std::vector<size_t> Table::widths(size_t most, size_t gap) const {
  constexpr size_t kLeast = 12; // of a cell that is cut off
  std::vector<size_t> widths(rows_.front().size());
  for (const Row &row : rows_)
    for (size_t i = 0; i < widths.size(); i++)
      widths[i] = std::max(widths[i], columns_of(row[i]));
  for (size_t all = sum_of(widths, gap); all > most; all--) {
    const auto widest = std::max_element(widths.begin(), widths.begin() + ptrdiff_t(left_));
    if (*widest <= kLeast)
      break;
    --*widest;
  }
  return widths;
}

std::string Table::text(size_t most) const {
  size_t gap = 2;
  std::vector<size_t> widths = this->widths(most, gap);
  if (sum_of(widths, gap) > most) {
    if (const Table rest = without_percentages(); rest.rows_[0].size() < rows_[0].size())
      return rest.text(most);
    gap = 1;
    widths = this->widths(most, gap);
  }
  std::string text;
  for (const Row &row : rows_) {
    for (size_t i = 0; i < widths.size(); i++) {
      const std::string cell =
          columns_of(row[i]) > widths[i] ? short_line(row[i], widths[i]) : row[i];
      const std::string space(widths[i] - columns_of(cell), ' ');
      text += i ? std::string(gap, ' ') : "";
      text += i < left_ ? cell + space : space + cell;
    }
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  }
  return text;
}

} // namespace ovnitrace
