// SPDX-License-Identifier: BSD-2-Clause
// B-trees of a database, written page after page by whoever has the rows in their order.
#pragma once

#include "emulator/base/relay.h"
#include "emulator/prv/atomic_file.h"
#include "emulator/tables/sqlite_record.h"

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace ovnitrace {

/// Adds pages to a database that SQLite has made and closed. A thread of its own writes them.
/// Throws Error.
class SqlitePages {
public:
  static constexpr size_t kBytes = 16384; ///< of a page
  using Page = std::array<uint8_t, kBytes>;

  /// Borrows the file, which has so many pages.
  SqlitePages(AtomicFile &file, uint32_t pages);

  /// Returns the number of the page. SQLite counts them from 1.
  uint32_t append(const Page &page);
  /// Replaces one of those that SQLite made, which no thread writes meanwhile.
  void replace(uint32_t number, const Page &page);
  /// Writes what is left, and the number of pages into the header. To be called once.
  void finish();

private:
  /// Pages that follow one another.
  struct Block {
    uint64_t offset = 0; ///< in the file
    std::vector<uint8_t> bytes = {};
  };
  static constexpr uint64_t offset(uint32_t number) { return uint64_t(number - 1) * kBytes; }
  void pass();

  AtomicFile &file_;
  uint32_t pages_;
  Relay<Block> relay_;
};

/// One B-tree, of a table with row ids or of an index. The page that is being filled of each level
/// is in memory: as many as the tree is high. A page that is full goes to the file, and its key to
/// the level above. https://sqlite.org/fileformat2.html, "B-tree Pages".
class SqliteTree {
public:
  enum class Kind : uint8_t { table, index };
  /// Bytes of a record at most. SQLite wants four keys in a page, and so much needs no other pages.
  static constexpr size_t kMostBytes = 2048;

  /// Borrows the pages. `root`: number of the empty page that SQLite has made for this tree.
  SqliteTree(SqlitePages &pages, Kind kind, uint32_t root);

  /// The next row of a table. Rows count from 1. Returns its number. Throws Error,
  /// also after 2^32 - 1 of them.
  uint32_t add_row(const SqliteRecord &record);
  /// The next entry of an index, none of which is below the one before it. Throws Error.
  void add_entry(const SqliteRecord &record);
  /// Writes what is left. To be called once.
  void finish();

private:
  /// A page that is being filled: pointers from its start on, cells from its end down.
  struct Level {
    SqlitePages::Page page{};
    uint32_t cells = 0;
    size_t content = SqlitePages::kBytes; ///< where the last cell starts
    size_t last = 0;                      ///< bytes of that cell
  };

  uint8_t *place(size_t level, size_t bytes);
  void pass_on(size_t level);
  void seal(size_t level, uint32_t right);
  size_t header_bytes(size_t level) const { return level ? 12 : 8; }

  SqlitePages &pages_;
  const Kind kind_;
  const uint32_t root_;
  uint32_t rows_ = 0;
  std::vector<std::unique_ptr<Level>> levels_; ///< leaves first
};

} // namespace ovnitrace
