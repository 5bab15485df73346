// SPDX-License-Identifier: BSD-2-Clause
// Writes the tables as an SQLite database.
#pragma once

#include "emulator/output/atomic_file.h"
#include "emulator/tables/tables.h"

#include <array>
#include <string>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace ovnitrace {

/// Writes all rows in one transaction, with prepared statements of many rows, then the indices and
/// views of views.h. Memory is bounded: SQLite sorts in files of its own. Every function throws
/// Error.
class SqliteFile final : public TableSink {
public:
  /// Replaces what is at `place`, as AtomicFile does. It cannot be a device.
  explicit SqliteFile(const OutputPlace &place);
  ~SqliteFile() override;
  SqliteFile(const SqliteFile &) = delete;
  SqliteFile &operator=(const SqliteFile &) = delete;

  void row(TableId table, std::span<const Cell> cells) override;
  /// Makes indices and views, and gives the file its name. Without it, nothing is left behind.
  void finish();

private:
  /// The rows of a table that are not inserted yet.
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
