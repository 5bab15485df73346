// SPDX-License-Identifier: BSD-2-Clause
// The tables as a database of SQLite.
#pragma once

#include "emulator/output/atomic_file.h"
#include "emulator/tables/tables.h"

#include <array>
#include <string>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace ovnitrace {

/// All rows go into one transaction, by prepared statements of many rows; then come the indices and
/// views of sqlite_schema.h. Memory is bounded: SQLite sorts what it indexes in files of its own.
/// Every function throws Error.
class SqliteFile final : public TableSink {
public:
  /// Replaces what is at `place`, as AtomicFile does; it cannot be a device.
  explicit SqliteFile(const OutputPlace &place);
  ~SqliteFile() override;
  SqliteFile(const SqliteFile &) = delete;
  SqliteFile &operator=(const SqliteFile &) = delete;

  void row(TableId table, std::span<const Cell> cells) override;
  /// Makes indices and views, and gives the file its name. Without it nothing is left over.
  void finish();

private:
  /// Rows of a table that no INSERT has taken yet.
  struct Waiting {
    sqlite3_stmt *insert = nullptr;
    std::vector<Cell> cells;
    std::vector<std::string> texts; ///< of the cells, by their places
  };

  void close();
  void prepare(TableId table, size_t rows);
  void insert(Waiting &waiting);
  void execute(const char *sql);
  [[noreturn]] void fail() const;

  const std::string path_; ///< for messages
  AtomicFile file_;
  sqlite3 *database_ = nullptr;
  std::array<Waiting, kTables> waiting_{};
};

} // namespace ovnitrace
