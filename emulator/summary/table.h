// SPDX-License-Identifier: BSD-2-Clause
// Lays out a text table with aligned columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ovnitrace {

class Table {
public:
  using Row = std::vector<std::string>;

  /// The first `left` columns are left-aligned, the others right-aligned. A cell of the head may
  /// have two lines.
  explicit Table(Row head, size_t left = 1);

  /// Adds a row, which has as many cells as the head.
  void add(Row row) { rows_.push_back(std::move(row)); }
  bool empty() const { return rows_.size() == heads_; }
  /// Returns the lines. If they are wider than `most`, the left columns are narrowed, the widest
  /// first, and shortened cells end with an ellipsis. If that is not enough, the columns "%" are
  /// left out, and then the columns move closer together.
  std::string text(size_t most = SIZE_MAX) const;

private:
  Table without_percentages() const;
  /// Returns the widths of the columns, of which the left ones are narrowed as far as needed.
  std::vector<size_t> widths(size_t most, size_t gap) const;

  std::vector<Row> rows_;
  size_t left_;
  size_t heads_; ///< lines of the head
};

} // namespace ovnitrace
