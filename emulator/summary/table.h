// SPDX-License-Identifier: BSD-2-Clause
// A table of text with aligned columns.
#pragma once

#include <string>
#include <vector>

namespace ovnitrace {

class Table {
public:
  using Row = std::vector<std::string>;

  /// The first column is aligned to the left, the others to the right.
  explicit Table(Row head) : rows_{std::move(head)} {}

  /// A row has as many cells as the head.
  void add(Row row) { rows_.push_back(std::move(row)); }
  std::string text() const;

private:
  std::vector<Row> rows_;
};

} // namespace ovnitrace
