// SPDX-License-Identifier: BSD-2-Clause
// Databases of SqliteFile hold the rows that it was given, in their order.
#include "emulator/tables/sqlite_file.h"
#include "tests/unit/support/error_from.h"
#include "tests/unit/support/read_tables.h"
#include "tests/unit/support/temp_dir.h"

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

constexpr TableId kTested[] = {TableId::slice, TableId::wakeup, TableId::event, TableId::peer};

TEST(SqliteFile, HoldsEveryRowInItsOrder) {
  for (const size_t rows : {0, 1, 2, 150, 3000, 20000}) {
    SCOPED_TRACE(rows);
    TempDir dir;
    std::mt19937_64 random(rows);
    std::array<TextRows, kTables> expected;
    const std::string path = dir / "t.sqlite";
    SqliteFile file{OutputPlace(path)};
    for (size_t n = 0; n < rows; n++) {
      const TableId table = kTested[random() % std::size(kTested)];
      const int64_t time = int64_t(n * 10) - int64_t(random() % 2 ? 0 : random() % 1000);
      const RandomRow row(random, kTableInfo[size_t(table)], time, rows > 10000 ? 20 : 1000);
      file.row(table, row.cells);
      expected[size_t(table)].push_back(row.printed);
    }
    file.finish();
    EXPECT_EQ(query(path, "PRAGMA integrity_check"), (TextRows{{"ok"}}));
    for (const TableId table : kTested) {
      const std::string name(kTableInfo[size_t(table)].name);
      EXPECT_TRUE(query(path, "SELECT * FROM " + name + " ORDER BY rowid") ==
                  expected[size_t(table)])
          << name;
    }
  }
}

/// Rows wait for one another, whatever the count: none is lost at the end.
TEST(SqliteFile, HoldsTheLastRowsOfEveryCount) {
  for (size_t rows = 1; rows <= 200; rows++) {
    TempDir dir;
    const std::string path = dir / "t.sqlite";
    SqliteFile file{OutputPlace(path)};
    for (size_t n = 0; n < rows; n++) {
      const Cell cells[] = {n, 1, 2, std::string_view("task")};
      file.row(TableId::wakeup, cells);
    }
    file.finish();
    EXPECT_EQ(query(path, "SELECT count(*), max(rowid), sum(time_ns = rowid - 1) FROM wakeup"),
              (TextRows{{std::to_string(rows), std::to_string(rows), std::to_string(rows)}}));
  }
}

TEST(SqliteFile, HasTheTypesOfItsColumnsAndAVersion) {
  TempDir dir;
  const std::string path = dir / "t.sqlite";
  SqliteFile(OutputPlace(path)).finish();
  EXPECT_EQ(query(path, "PRAGMA user_version"), TextRows{{"1"}});
  EXPECT_EQ(query(path, "PRAGMA page_size"), TextRows{{"16384"}});
  const auto columns = [&](const std::string &table) {
    return query(path, "SELECT name, type, pk FROM pragma_table_info('" + table + "')");
  };
  EXPECT_EQ(columns("mark"),
            (TextRows{{"time_ns", "INTEGER", "0"}, {"text", "TEXT", "0"}, {"node", "TEXT", "0"}}));
  const TextRows thread = columns("thread");
  ASSERT_EQ(thread.size(), 10u);
  EXPECT_EQ(thread[0], (std::vector<std::string>{"id", "INTEGER", "1"})) << "the primary key";
  EXPECT_EQ(thread[1], (std::vector<std::string>{"tid", "INTEGER", "0"}));
}

TEST(SqliteFile, SaysWhyItCannotBeWritten) {
  EXPECT_EQ(test::failure_from([] { SqliteFile(OutputPlace("/dev/full")); }),
            "cannot write a database to /dev/full: it is a device; name a file with -o");
}

} // namespace
} // namespace ovnitrace
