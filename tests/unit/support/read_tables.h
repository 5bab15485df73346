// SPDX-License-Identifier: BSD-2-Clause
// Reads CSV files and databases again, without what wrote them.
#pragma once

#include <sqlite3.h>

#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace ovnitrace::test {

/// Values as text; what is nothing is "-".
using TextRow = std::vector<std::string>;
using TextRows = std::vector<TextRow>;

/// RFC 4180: the first row has the names of the columns.
inline TextRows read_csv(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw std::runtime_error("no file " + path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  TextRows rows;
  TextRow row;
  for (size_t at = 0; at < text.size();) {
    std::string cell;
    const bool quoted = text[at] == '"';
    if (quoted) {
      for (at++; at < text.size(); at++) {
        if (text[at] != '"')
          cell += text[at];
        else if (text.compare(at, 2, "\"\"") == 0)
          cell += text[at++];
        else
          break;
      }
      if (at == text.size())
        throw std::runtime_error("a quote that does not end in " + path);
      at++;
    } else {
      while (at < text.size() && text[at] != ',' && text[at] != '\n')
        cell += text[at++];
    }
    row.push_back(cell.empty() && !quoted ? "-" : cell);
    if (at >= text.size() || (text[at] != ',' && text[at] != '\n'))
      throw std::runtime_error("no , and no line end after a cell in " + path);
    if (text[at++] == ',') {
      if (at < text.size() && text[at] == '\n')
        row.push_back("-"), at++;
      else
        continue;
    }
    rows.push_back(std::move(row));
    row.clear();
  }
  return rows;
}

/// What a database answers.
inline TextRows query(const std::string &path, const std::string &sql) {
  sqlite3 *database = nullptr;
  TextRows rows;
  const auto add = [](void *to, int columns, char **values, char **) {
    TextRow &row = static_cast<TextRows *>(to)->emplace_back();
    for (int n = 0; n < columns; n++)
      row.push_back(values[n] ? values[n] : "-");
    return 0;
  };
  std::string error;
  if (sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READONLY, nullptr) != SQLITE_OK ||
      sqlite3_exec(database, sql.c_str(), add, &rows, nullptr) != SQLITE_OK)
    error = sqlite3_errmsg(database);
  sqlite3_close(database);
  if (!error.empty())
    throw std::runtime_error(path + ": " + error + ": " + sql);
  return rows;
}

} // namespace ovnitrace::test
