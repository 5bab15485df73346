// SPDX-License-Identifier: BSD-2-Clause
// The tables as a database of SQLite.
#pragma once

#include "emulator/prv/atomic_file.h"
#include "emulator/tables/index_sorter.h"
#include "emulator/tables/sqlite_schema.h"
#include "emulator/tables/sqlite_tree.h"
#include "emulator/tables/tables.h"

#include <array>
#include <memory>
#include <optional>
#include <string>

struct sqlite3;
struct sqlite3_stmt;

namespace ovnitrace {

/// The library makes the tables, indices and views, all empty, and takes the rows of thread and
/// peer. It needs a microsecond a row and more for the indices, so the rows of the other tables,
/// which are as many as there are events, are written as SqliteTree does, and their indices after
/// them. Memory is bounded: what is sorted is in temporary files. Every function throws Error.
class SqliteFile final : public TableSink {
public:
  /// Replaces what is at `place`, as AtomicFile does; it cannot be a device.
  explicit SqliteFile(const OutputPlace &place);
  ~SqliteFile() override;
  SqliteFile(const SqliteFile &) = delete;
  SqliteFile &operator=(const SqliteFile &) = delete;

  /// All rows of thread and peer come before those of other tables.
  void row(TableId table, std::span<const Cell> cells) override;
  /// Writes the indices, and gives the file its name. Without it nothing is left over.
  void finish();

private:
  struct Index {
    explicit Index(const IndexInfo &info, uint32_t root) : info(info), root(root) {}
    const IndexInfo &info;
    const uint32_t root; ///< number of a page
    IndexedTexts texts;
    IndexSorter entries{is_text() ? &texts : nullptr};

    bool is_text() const { return kTableInfo[size_t(info.table)].columns[info.column].is_text; }
    void add(std::span<const Cell> row, uint32_t number);
    void write(SqlitePages &pages);
  };

  void insert(TableId table, std::span<const Cell> cells);
  void end_library();
  uint32_t number_of(const std::string &sql);
  void close();
  void execute(const char *sql);
  [[noreturn]] void fail() const;

  const std::string path_; ///< for messages
  AtomicFile file_;
  sqlite3 *database_ = nullptr; ///< until the first row that it does not take
  std::array<sqlite3_stmt *, kTables> insert_{};
  std::optional<SqlitePages> pages_;
  std::array<std::unique_ptr<SqliteTree>, kTables> trees_; ///< of the tables that it does not take
  std::array<std::unique_ptr<Index>, kSqliteIndices.size()> indices_;
};

} // namespace ovnitrace
