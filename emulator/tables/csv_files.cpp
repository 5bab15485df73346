// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/tables/csv_files.h"

#include "emulator/base/number_text.h"
#include "emulator/tables/views.h"

#include <fmt/format.h>

#include <algorithm>

namespace ovnitrace {

namespace {

std::string header_of(TableId table) {
  std::string line;
  for (const ColumnInfo &column : kTableInfo[size_t(table)].columns)
    line += (line.empty() ? "" : ",") + std::string(column.name);
  return line + '\n';
}

/// Characters with which a spreadsheet takes a text for a formula.
bool is_formula(std::string_view text) {
  return !text.empty() && std::string_view("=+-@").find(text.front()) != std::string_view::npos;
}

/// Doubles quotes. Details are full of them, so a branch for each is slow.
char *put_quoted(char *at, std::string_view text) {
  for (const char c : text) {
    *at++ = c;
    *at = c;
    at += c == '"';
  }
  return at;
}

void put_char(OutputFile &file, char c) {
  char *at = file.reserve(1);
  *at++ = c;
  file.commit(at);
}

void put_text(OutputFile &file, std::string_view text) {
  constexpr size_t kPiece = OutputFile::kMostReserve / 2;
  char *at = file.reserve(4);
  *at++ = '"';
  if (is_formula(text))
    *at++ = '\'';
  file.commit(at);
  for (; !text.empty(); text.remove_prefix(std::min(kPiece, text.size()))) {
    const std::string_view piece = text.substr(0, kPiece);
    file.commit(put_quoted(file.reserve(2 * piece.size()), piece));
  }
  put_char(file, '"');
}

/// Lists the files as tables of DuckDB, with types, which an empty file does not show.
std::string duckdb_tables() {
  std::string text = "-- The tables of this directory and their views, for DuckDB:\n"
                     "--   cd DIRECTORY && duckdb -init views.sql\n";
  for (const TableInfo &table : kTableInfo) {
    std::string columns;
    for (const ColumnInfo &column : table.columns)
      columns += fmt::format("{}'{}': '{}'", columns.empty() ? "" : ", ", column.name,
                             column.is_text ? "VARCHAR" : "BIGINT");
    text += fmt::format("CREATE VIEW {0} AS SELECT * FROM read_csv('{0}-*.csv', header = true,\n"
                        "  columns = {{{1}}});\n",
                        table.name, columns);
  }
  return text;
}

} // namespace

CsvFiles::CsvFiles(const std::string &directory, uint64_t most_rows)
    : directory_(directory), most_rows_(most_rows) {
  for (size_t table = 0; table < kTables; table++)
    start_part(TableId(table));
}

CsvFiles::~CsvFiles() = default;

void CsvFiles::start_part(TableId table) {
  Part &part = parts_[size_t(table)];
  const std::string header = header_of(table);
  if (part.file)
    part.file->close(header);
  part.rows = 0;
  part.file = std::make_unique<OutputFile>(
      directory_.file(fmt::format("{}-{:04}.csv", kTableInfo[size_t(table)].name, ++part.number)),
      header, OutputFile::Format::plain);
}

void CsvFiles::row(TableId table, std::span<const Cell> cells) {
  Part &part = parts_[size_t(table)];
  if (part.rows++ == most_rows_) {
    start_part(table);
    part.rows = 1;
  }
  OutputFile &file = *part.file;
  for (size_t n = 0; n < cells.size(); n++) {
    if (n)
      put_char(file, ',');
    if (cells[n].kind == Cell::Kind::number)
      file.commit(put_decimal(file.reserve(kMaxDigits), cells[n].number));
    else if (cells[n].kind == Cell::Kind::text)
      put_text(file, cells[n].text);
  }
  put_char(file, '\n');
}

void CsvFiles::finish() {
  for (size_t table = 0; table < kTables; table++)
    parts_[table].file->close(header_of(TableId(table)));
  const std::string views = duckdb_tables() + kViews;
  OutputFile(directory_.file("views.sql"), views, OutputFile::Format::plain).close(views);
  directory_.commit();
}

} // namespace ovnitrace
