// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/tables/sqlite_file.h"

#include "emulator/base/error.h"
#include "emulator/tables/views.h"

#include <fcntl.h>
#include <sqlite3.h>

#include <cstring>
#include <filesystem>

namespace ovnitrace {

namespace {

/// Settings. Nobody else has the file, which AtomicFile has locked, and it is removed on failure:
/// no journal, no waiting for the disk. Large pages are fewer to find and to write. CREATE INDEX
/// sorts in as much memory as the cache has.
constexpr const char *kSetUp = "PRAGMA page_size = 16384; PRAGMA cache_size = -8192;"
                               "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
                               "PRAGMA locking_mode = EXCLUSIVE; PRAGMA temp_store = FILE;"
                               "PRAGMA user_version = 1; BEGIN;";

/// Rows of one INSERT: to start and end a statement costs more than a row.
constexpr size_t kInsertRows = 64;

std::string create_table(TableId id) {
  const TableInfo &table = kTableInfo[size_t(id)];
  std::string columns;
  for (const ColumnInfo &column : table.columns)
    columns += (columns.empty() ? "" : ", ") + std::string(column.name) +
               (column.is_text ? " TEXT" : " INTEGER") +
               (column.name == "id" ? " PRIMARY KEY" : "");
  return "CREATE TABLE " + std::string(table.name) + "(" + columns + ")";
}

std::string insert_into(TableId id, size_t rows) {
  const TableInfo &table = kTableInfo[size_t(id)];
  std::string row;
  for (size_t n = 0; n < table.columns.size(); n++)
    row += n ? ", ?" : "(?";
  std::string sql = "INSERT INTO " + std::string(table.name) + " VALUES ";
  for (size_t n = 0; n < rows; n++)
    sql += (n ? ", " : "") + row + ")";
  return sql;
}

/// Opens the database. SQLite opens a file by its path, so links that somebody puts there are not
/// followed.
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

SqliteFile::SqliteFile(const OutputPlace &place)
    : path_(place.path), file_(place, AtomicFile::Named::yes) {
  if (file_.temporary().empty() || place.directory != AT_FDCWD)
    throw Error("cannot write a database to " + path_ + ": it is a device; name a file with -o");
  const std::string name = real_path(file_.temporary());
  constexpr int kFlags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_NOMUTEX;
  sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); // a lock and sums at each malloc, that nobody reads
  try {
    if (sqlite3_open_v2(name.c_str(), &database_, kFlags, "unix-none") != SQLITE_OK)
      fail();
    execute(kSetUp);
    for (size_t table = 0; table < kTables; table++) {
      execute(create_table(TableId(table)).c_str());
      prepare(TableId(table), kInsertRows);
      waiting_[table].texts.resize(kInsertRows * kTableInfo[table].columns.size());
    }
  } catch (...) {
    close();
    throw;
  }
}

SqliteFile::~SqliteFile() {
  close();
}

void SqliteFile::close() {
  for (Waiting &waiting : waiting_) {
    sqlite3_finalize(waiting.insert);
    waiting.insert = nullptr;
  }
  sqlite3_close(database_);
  database_ = nullptr;
}

void SqliteFile::prepare(TableId table, size_t rows) {
  sqlite3_stmt *&insert = waiting_[size_t(table)].insert;
  sqlite3_finalize(insert);
  insert = nullptr;
  if (sqlite3_prepare_v3(database_, insert_into(table, rows).c_str(), -1, SQLITE_PREPARE_PERSISTENT,
                         &insert, nullptr) != SQLITE_OK)
    fail();
}

void SqliteFile::row(TableId table, std::span<const Cell> cells) {
  Waiting &waiting = waiting_[size_t(table)];
  for (const Cell &cell : cells) {
    std::string &text = waiting.texts[waiting.cells.size()];
    waiting.cells.push_back(cell);
    if (cell.kind == Cell::Kind::text)
      waiting.cells.back().text = text.assign(cell.text);
  }
  if (waiting.cells.size() == waiting.texts.size())
    insert(waiting);
}

void SqliteFile::insert(Waiting &waiting) {
  sqlite3_stmt *statement = waiting.insert;
  const std::vector<Cell> &cells = waiting.cells;
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
  waiting.cells.clear();
}

void SqliteFile::execute(const char *sql) {
  if (sqlite3_exec(database_, sql, nullptr, nullptr, nullptr) != SQLITE_OK)
    fail();
}

void SqliteFile::finish() {
  for (size_t table = 0; table < kTables; table++)
    if (const size_t cells = waiting_[table].cells.size()) {
      prepare(TableId(table), cells / kTableInfo[table].columns.size());
      insert(waiting_[table]);
    }
  execute(kSqliteIndices);
  execute(kViews);
  execute("COMMIT");
  close();
  file_.commit();
}

void SqliteFile::fail() const {
  const int system = database_ ? sqlite3_system_errno(database_) : 0;
  throw Error("cannot write the database " + path_ + ": " +
              (database_ ? sqlite3_errmsg(database_) : "out of memory") +
              (system ? std::string(" (") + std::strerror(system) + ")" : "") +
              "; free some space, also for SQLite's temporary files (SQLITE_TMPDIR), or choose "
              "another place with -o");
}

} // namespace ovnitrace
