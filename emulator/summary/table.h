// SPDX-License-Identifier: BSD-2-Clause
// A table of text with aligned columns.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace ovnitrace {

class Table {
public:
  using Row = std::vector<std::string>;

  /// The first `left` columns are aligned to the left, the others to the right.
  explicit Table(Row head, size_t left = 1) : rows_{std::move(head)}, left_(left) {}

  /// A row has as many cells as the head.
  void add(Row row) { rows_.push_back(std::move(row)); }
  bool empty() const { return rows_.size() == 1; }
  std::string text() const;

private:
  std::vector<Row> rows_;
  size_t left_;
};

} // namespace ovnitrace
