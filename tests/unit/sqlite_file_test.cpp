// SPDX-License-Identifier: BSD-2-Clause
// Databases that SqliteFile writes page by page are what SQLite would have made of the same rows.
#include "emulator/base/error.h"
#include "emulator/tables/sqlite_file.h"
#include "tests/unit/support/read_tables.h"
#include "tests/unit/support/temp_dir.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

namespace ovnitrace {
namespace {

using test::query;
using test::TempDir;
using test::TextRow;
using test::TextRows;

/// A row whose cells are made of anything, and what SQLite prints of it.
struct RandomRow {
  std::vector<Cell> cells;
  std::vector<std::string> texts; ///< borrowed by `cells`
  TextRow printed;

  RandomRow(std::mt19937_64 &random, const TableInfo &table, int64_t time, size_t most_text) {
    texts.reserve(table.columns.size());
    for (const ColumnInfo &column : table.columns) {
      const bool is_time = column.name == "time_ns" || column.name == "start_ns";
      const bool is_key = column.name == "thread" || column.name == "tid" || column.name == "cpu";
      if (is_time) {
        put(time);
      } else if (column.name == "state") {
        put(std::string(random() % 2 ? "running" : "paused"));
      } else if (column.name == "name") {
        put(std::string(1 + random() % 3, char('a' + random() % 20)));
      } else if (is_key) {
        random() % 8 || column.name == "tid" ? put(int64_t(random() % 700)) : put_nothing();
      } else if (random() % 3 == 0) {
        put_nothing();
      } else if (column.is_text) {
        put(std::string(random() % (most_text + 1), 'x'));
      } else {
        put(int64_t(random()) >> random() % 64); // of every size and sign
      }
    }
  }

private:
  void put_nothing() {
    cells.emplace_back();
    printed.emplace_back("-");
  }
  void put(int64_t number) {
    cells.emplace_back(number);
    printed.push_back(std::to_string(number));
  }
  void put(std::string text) {
    texts.push_back(std::move(text));
    cells.emplace_back(std::string_view(texts.back()));
    printed.push_back(texts.back());
  }
};

constexpr TableId kLarge[] = {TableId::slice, TableId::wakeup, TableId::event};

/// Some counts are those of one page, others of trees of three levels and of several sorted runs.
TEST(SqliteFile, HoldsEveryRowAndEveryIndexIsWhole) {
  for (const size_t rows : {0, 1, 2, 150, 3000, 200000}) {
    SCOPED_TRACE(rows);
    TempDir dir;
    std::mt19937_64 random(rows);
    std::array<TextRows, kTables> expected;
    const std::string path = dir / "t.sqlite";
    SqliteFile file{OutputPlace(path)};
    for (size_t n = 0; n < rows; n++) {
      const TableId table = kLarge[random() % 3];
      const int64_t time = int64_t(n * 10) - int64_t(random() % 2 ? 0 : random() % 1000);
      const RandomRow row(random, kTableInfo[size_t(table)], time, rows > 10000 ? 20 : 1000);
      file.row(table, row.cells);
      expected[size_t(table)].push_back(row.printed);
    }
    file.finish();
    EXPECT_EQ(query(path, "PRAGMA integrity_check"), (TextRows{{"ok"}}));
    for (const TableId table : kLarge)
      EXPECT_TRUE(query(path, "SELECT * FROM " + std::string(kTableInfo[size_t(table)].name) +
                                  " ORDER BY rowid") == expected[size_t(table)]);
    for (const IndexInfo &index : kSqliteIndices) {
      const TableInfo &table = kTableInfo[size_t(index.table)];
      const auto ordered = [&](const std::string &how) {
        const std::string only = index.only.empty() ? "" : "WHERE state = 'running'";
        return query(path, fmt::format("SELECT rowid FROM {} {} {} ORDER BY {}, {}, rowid",
                                       table.name, how, only, table.columns[index.column].name,
                                       table.columns[index.time].name));
      };
      EXPECT_TRUE(ordered("INDEXED BY " + std::string(index.name)) == ordered("NOT INDEXED"))
          << index.name;
    }
  }
}

TEST(SqliteFile, CanBeChangedBySqliteAfterwards) {
  TempDir dir;
  std::mt19937_64 random(1);
  const std::string path = dir / "t.sqlite";
  SqliteFile file{OutputPlace(path)};
  for (int n = 0; n < 5000; n++)
    file.row(TableId::event, RandomRow(random, kTableInfo[size_t(TableId::event)], n, 100).cells);
  file.finish();
  sqlite3 *database = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  const char *sql = "DELETE FROM event WHERE rowid % 3 = 0; UPDATE event SET name = name || '!';"
                    "INSERT INTO event SELECT * FROM event; CREATE INDEX i ON event(cpu); VACUUM";
  EXPECT_EQ(sqlite3_exec(database, sql, nullptr, nullptr, nullptr), SQLITE_OK)
      << sqlite3_errmsg(database);
  sqlite3_close(database);
  EXPECT_EQ(query(path, "PRAGMA integrity_check"), (TextRows{{"ok"}}));
  EXPECT_EQ(query(path, "SELECT count(*) FROM event"), (TextRows{{"6668"}}));
}

TEST(SqliteFile, RefusesARowThatIsTooLong) {
  TempDir dir;
  SqliteFile file{OutputPlace(dir / "t.sqlite")};
  const std::string text(SqliteTree::kMostBytes + 1, 'x');
  const Cell cells[] = {0, 0, 0, std::string_view("name"), std::string_view(text)};
  EXPECT_THROW(file.row(TableId::event, cells), Error);
}

/// SQLite never uses the page with the byte at 1 GiB.
TEST(SqlitePages, LeaveOutThePageWithTheLocks) {
  TempDir dir;
  AtomicFile file(dir / "t");
  const uint32_t lock_page = (1u << 30) / SqlitePages::kBytes + 1;
  SqlitePages pages(file, lock_page - 2);
  SqlitePages::Page page{};
  EXPECT_EQ(pages.append(page), lock_page - 1);
  EXPECT_EQ(pages.append(page), lock_page + 1);
  EXPECT_EQ(pages.append(page), lock_page + 2);
}

} // namespace
} // namespace ovnitrace
