// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/tables/sqlite_file.h"

#include "emulator/base/error.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include <cstring>
#include <filesystem>

namespace ovnitrace {

namespace {

/// Nobody else has the file, and it is removed if we fail: no journal, no waiting for the disk.
constexpr const char *kSetUp = "PRAGMA page_size = {}; PRAGMA auto_vacuum = NONE;"
                               "PRAGMA encoding = 'UTF-8'; PRAGMA journal_mode = OFF;"
                               "PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;"
                               "PRAGMA user_version = 1; BEGIN;";

/// The library takes their rows.
constexpr bool is_small(TableId table) {
  return table == TableId::thread || table == TableId::peer;
}

std::string create_table(TableId id) {
  const TableInfo &table = kTableInfo[size_t(id)];
  std::string columns;
  for (const ColumnInfo &column : table.columns)
    columns += (columns.empty() ? "" : ", ") + std::string(column.name) +
               (column.is_text ? " TEXT" : " INTEGER") +
               (column.name == "id" ? " PRIMARY KEY" : "");
  return "CREATE TABLE " + std::string(table.name) + "(" + columns + ")";
}

std::string create_index(const IndexInfo &index) {
  const TableInfo &table = kTableInfo[size_t(index.table)];
  std::string sql = fmt::format("CREATE INDEX {} ON {}({}, {})", index.name, table.name,
                                table.columns[index.column].name, table.columns[index.time].name);
  if (index.only_column >= 0)
    sql +=
        fmt::format(" WHERE {} = '{}'", table.columns[size_t(index.only_column)].name, index.only);
  return sql;
}

std::string insert_into(TableId id) {
  const TableInfo &table = kTableInfo[size_t(id)];
  std::string values;
  for (size_t n = 0; n < table.columns.size(); n++)
    values += n ? ", ?" : "?";
  return "INSERT INTO " + std::string(table.name) + " VALUES (" + values + ")";
}

/// SQLite opens a file by its path: no link that somebody puts there meanwhile is followed.
std::string real_path(const std::string &name) {
  const std::filesystem::path path(name);
  std::error_code error;
  const std::filesystem::path directory = std::filesystem::canonical(
      path.has_parent_path() ? path.parent_path() : std::filesystem::path("."), error);
  if (error)
    throw Error("cannot open the directory of " + name + ": " + error.message());
  return directory / path.filename();
}

} // namespace

SqliteFile::SqliteFile(const OutputPlace &place) : path_(place.path), file_(place) {
  if (file_.temporary().empty() || place.directory != AT_FDCWD)
    throw Error("cannot write a database to " + path_ + ": it is a device; name a file with -o");
  const std::string name = real_path(file_.temporary());
  constexpr int kFlags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_NOMUTEX;
  try {
    if (sqlite3_open_v2(name.c_str(), &database_, kFlags, nullptr) != SQLITE_OK)
      fail();
    execute(fmt::format(kSetUp, SqlitePages::kBytes).c_str());
    for (size_t table = 0; table < kTables; table++) {
      execute(create_table(TableId(table)).c_str());
      if (sqlite3_prepare_v3(database_, insert_into(TableId(table)).c_str(), -1,
                             SQLITE_PREPARE_PERSISTENT, &insert_[table], nullptr) != SQLITE_OK)
        fail();
    }
    for (const IndexInfo &index : kSqliteIndices)
      execute(create_index(index).c_str());
    execute(kSqliteViews);
  } catch (...) {
    close();
    throw;
  }
}

SqliteFile::~SqliteFile() {
  close();
}

void SqliteFile::close() {
  for (sqlite3_stmt *&statement : insert_) {
    sqlite3_finalize(statement);
    statement = nullptr;
  }
  sqlite3_close(database_);
  database_ = nullptr;
}

/// What stands for the first column: 0 for nothing.
void SqliteFile::Index::add(std::span<const Cell> row, uint32_t number) {
  if (info.only_column >= 0 && row[size_t(info.only_column)].text != info.only)
    return;
  const Cell &column = row[info.column];
  uint32_t group = 0;
  if (column.kind == Cell::Kind::text)
    group = texts.number(column.text);
  else if (column.kind == Cell::Kind::number)
    group = uint32_t(column.number) + 1;
  entries.add({row[info.time].number, group, number});
}

void SqliteFile::Index::write(SqlitePages &pages) {
  SqliteTree tree(pages, SqliteTree::Kind::index, root);
  entries.finish([&](const IndexEntry &entry) {
    Cell column;
    if (entry.group)
      column = is_text() ? Cell(texts.text(entry.group)) : Cell(entry.group - 1);
    const Cell cells[] = {column, entry.time, entry.row};
    tree.add_entry(SqliteRecord(cells));
  });
  tree.finish();
}

void SqliteFile::row(TableId table, std::span<const Cell> cells) {
  if (is_small(table))
    return insert(table, cells);
  if (database_)
    end_library();
  const uint32_t number = trees_[size_t(table)]->add_row(SqliteRecord(cells));
  for (const auto &index : indices_)
    if (index->info.table == table)
      index->add(cells, number);
}

void SqliteFile::insert(TableId table, std::span<const Cell> cells) {
  sqlite3_stmt *statement = insert_[size_t(table)];
  for (size_t n = 0; n < cells.size(); n++) {
    const int column = int(n) + 1;
    const Cell &cell = cells[n];
    int status = SQLITE_OK;
    if (cell.kind == Cell::Kind::number)
      status = sqlite3_bind_int64(statement, column, cell.number);
    else if (cell.kind == Cell::Kind::text)
      status = sqlite3_bind_text(statement, column, cell.text.data(), int(cell.text.size()),
                                 SQLITE_STATIC);
    else
      status = sqlite3_bind_null(statement, column);
    if (status != SQLITE_OK)
      fail();
  }
  if (sqlite3_step(statement) != SQLITE_DONE || sqlite3_reset(statement) != SQLITE_OK)
    fail();
}

void SqliteFile::execute(const char *sql) {
  if (sqlite3_exec(database_, sql, nullptr, nullptr, nullptr) != SQLITE_OK)
    fail();
}

uint32_t SqliteFile::number_of(const std::string &sql) {
  sqlite3_stmt *statement = nullptr;
  if (sqlite3_prepare_v2(database_, sql.c_str(), -1, &statement, nullptr) != SQLITE_OK)
    fail();
  const bool found = sqlite3_step(statement) == SQLITE_ROW;
  const auto number = uint32_t(sqlite3_column_int64(statement, 0));
  sqlite3_finalize(statement);
  if (!found)
    fail();
  return number;
}

/// From now on the file is ours.
void SqliteFile::end_library() {
  execute("COMMIT");
  const auto root = [&](std::string_view name) {
    return number_of(fmt::format("SELECT rootpage FROM sqlite_master WHERE name = '{}'", name));
  };
  pages_.emplace(file_, number_of("PRAGMA page_count"));
  for (size_t table = 0; table < kTables; table++)
    if (!is_small(TableId(table)))
      trees_[table] = std::make_unique<SqliteTree>(*pages_, SqliteTree::Kind::table,
                                                   root(kTableInfo[table].name));
  for (size_t n = 0; n < indices_.size(); n++)
    indices_[n] = std::make_unique<Index>(kSqliteIndices[n], root(kSqliteIndices[n].name));
  close();
}

void SqliteFile::finish() {
  if (database_)
    end_library();
  for (const auto &tree : trees_)
    if (tree)
      tree->finish();
  for (const auto &index : indices_)
    index->write(*pages_);
  pages_->finish();
  file_.commit();
}

void SqliteFile::fail() const {
  const int system = database_ ? sqlite3_system_errno(database_) : 0;
  throw Error("cannot write the database " + path_ + ": " +
              (database_ ? sqlite3_errmsg(database_) : "out of memory") +
              (system ? std::string(" (") + std::strerror(system) + ")" : "") +
              "; free some space, or choose another place with -o");
}

} // namespace ovnitrace
