// SPDX-License-Identifier: BSD-2-Clause
// The rows of the tables of `ovnitrace export`: of two hosts, of a part, and what is not known.
#include "emulator/tables/csv_files.h"
#include "emulator/tables/sqlite_file.h"
#include "emulator/tables/trace_tables.h"
#include "tests/unit/support/files.h"
#include "tests/unit/support/read_tables.h"
#include "tests/unit/support/temp_dir.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>

namespace ovnitrace {
namespace {

using test::query;
using test::TextRow;
using test::TextRows;

class Rows final : public TableSink {
public:
  void row(TableId table, std::span<const Cell> cells) override {
    TextRow row;
    for (const Cell &cell : cells)
      row.push_back(cell.kind == Cell::Kind::number ? std::to_string(cell.number)
                    : cell.kind == Cell::Kind::text ? std::string(cell.text)
                                                    : "-");
    rows[table].push_back(row);
  }
  std::map<TableId, TextRows> rows;
};

/// Threads 11 and 12 of process 11 are on the first host, 11 and one without a process on the
/// second one. The trace is from 1000 to 9000.
class TableRowsTest : public ::testing::Test {
protected:
  TableRowsTest() {
    catalog.hosts = {{"one"}, {"t\two\x1b"}};
    catalog.hosts[1].cgroups.resize(2);
    catalog.hosts[1].cgroups[0].path = "/former";
    Cgroup &cgroup = catalog.hosts[1].cgroups[1];
    cgroup.path = "/p";
    cgroup.unit = "u.service";
    cgroup.container = "docker 01";
    cgroup.pod = "uid";
    catalog.begin = 1000;
    catalog.end = 9000;
    catalog.cpus = {{.index = 4, .host = 0}, {.index = 7, .host = 1}};
    catalog.threads = {{.tid = 11, .pid = 11, .name = "app"},
                       {.tid = 12, .pid = 11, .parent = 11, .birth = 1500, .name = "io\n"},
                       {.tid = 13, .host = 1, .name = ""},
                       {.tid = 11, .pid = 11, .host = 1, .name = "far"}};
    catalog.threads[3].cgroups = {{0, 0}, {9000, 1}};
  }
  TextRows rows(TableId table, const Cut &cut = {}) {
    Rows sink;
    TraceTables tables(catalog, cut, sink);
    tables.put_names();
    EXPECT_EQ(tables.rows()[size_t(table)], sink.rows[table].size());
    return sink.rows[table];
  }
  Slice slice(ThreadState state) const {
    Slice slice;
    slice.thread = 1;
    slice.cpu = 1;
    slice.start = 1300;
    slice.end = 1350;
    slice.state = state;
    return slice;
  }

  Catalog catalog;
};

TEST_F(TableRowsTest, AThreadHasItsHostItsProcessAndItsLastCgroup) {
  EXPECT_EQ(
      rows(TableId::thread),
      (TextRows{{"0", "11", "11", "app", "app", "one", "-", "-", "-", "-"},
                {"1", "12", "11", "io?", "app", "one", "-", "-", "-", "-"},
                {"2", "13", "-", "-", "-", "t wo?", "-", "-", "-", "-"},
                {"3", "11", "11", "far", "far", "t wo?", "/p", "u.service", "docker 01", "uid"}}));
  Cut cut;
  cut.tids = {12};
  EXPECT_EQ(rows(TableId::thread, cut),
            (TextRows{{"1", "12", "11", "io?", "app", "one", "-", "-", "-", "-"}}))
      << "the number stays, and the process has its name";
}

TEST_F(TableRowsTest, APeerIsOfAHost) {
  catalog.hosts[0].peers = {{.tid = 77, .pid = 70, .since_ns = 1200, .name = "a\x1b"},
                            {.tid = 78, .since_ns = 400, .name = ""}};
  catalog.hosts[1].peers = {{.tid = 77, .pid = 77, .since_ns = 1000, .name = "b"}};
  EXPECT_EQ(rows(TableId::peer), (TextRows{{"77", "70", "a?", "200", "one"},
                                           {"78", "-", "-", "-600", "one"},
                                           {"77", "77", "b", "0", "t wo?"}}));
}

TEST_F(TableRowsTest, AMarkIsInThePartUpToItsEnds) {
  catalog.hosts[0].marks = {{1099, "a"}, {1100, "b"}, {1200, "c"}};
  catalog.hosts[1].marks = {{1201, "d"}, {1200, "e"}, {1150, ""}};
  Cut cut;
  cut.from = 100;
  cut.to = 200;
  EXPECT_EQ(
      rows(TableId::mark, cut),
      (TextRows{
          {"100", "b", "one"}, {"200", "c", "one"}, {"200", "e", "t wo?"}, {"150", "-", "t wo?"}}));
  EXPECT_EQ(rows(TableId::mark).size(), 6u);
}

TEST_F(TableRowsTest, ASliceHasWhatIsKnownOfIt) {
  Rows sink;
  TraceTables tables(catalog, {}, sink);
  Slice one = slice(ThreadState::Running);
  one.reason = FTRACE_OFFCPU_PREEMPTED;
  one.next = {.tid = 0, .thread = kNone};
  tables.on_slice(one);
  Slice two = slice(ThreadState::Paused);
  two.cpu = 2; // there are 2: 0 and 1
  two.next = {.tid = 77, .thread = kNone};
  two.waker = {.tid = 78, .thread = kNone};
  two.context = FTRACE_WAKER_TASK;
  tables.on_slice(two);
  two.cpu = kNone;
  two.context = FTRACE_WAKER_HARDIRQ;
  tables.on_slice(two);
  EXPECT_EQ(sink.rows[TableId::slice],
            (TextRows{{"1", "7", "running", "300", "350", "preempted", "-", "0", "-"},
                      {"1", "-", "paused", "300", "350", "-", "-", "77", "78"},
                      {"1", "-", "paused", "300", "350", "-", "-", "77", "-"}}));
  EXPECT_TRUE(sink.rows[TableId::wakeup].empty());
  EXPECT_EQ(tables.rows()[size_t(TableId::slice)], 3u);
}

TEST_F(TableRowsTest, AWakeupIsTheStartOfAWaitThatWasSeen) {
  Rows sink;
  TraceTables tables(catalog, {}, sink);
  Slice wait = slice(ThreadState::Warming);
  tables.on_slice(wait);
  EXPECT_TRUE(sink.rows[TableId::wakeup].empty()) << "it began before the part";
  wait.starts = true;
  tables.on_slice(wait);
  wait.context = FTRACE_WAKER_TASK;
  wait.waker = {.tid = 78, .thread = 0};
  wait.start = 1310;
  tables.on_slice(wait);
  wait.state = ThreadState::Cooling;
  tables.on_slice(wait);
  EXPECT_EQ(sink.rows[TableId::wakeup],
            (TextRows{{"300", "-", "12", "-"}, {"310", "78", "12", "task"}}));
}

TEST_F(TableRowsTest, AnEventOfAThreadThatIsLeftOutHasNone) {
  Cut cut;
  cut.tids = {12};
  Rows sink;
  TraceTables tables(catalog, cut, sink);
  const System system(catalog, {});
  Event event;
  event.time = 1300;
  event.kind = FTrace_EVT_task_create;
  event.cpu = 1;
  event.thread = 1;
  tables.on_event(event, system);
  event.thread = 0;
  event.cpu = kNone;
  tables.on_event(event, system);
  event.kind = FTrace_EXT_state; // only repeats what is known
  tables.on_event(event, system);
  event.kind = FTrace_EVT_blackout_start;
  event.par1 = FTRACE_BLACKOUT_MISSING;
  tables.on_event(event, system);
  ASSERT_EQ(sink.rows[TableId::event].size(), 2u);
  for (TextRow &row : sink.rows[TableId::event])
    row.pop_back(); // the details have their own tests
  EXPECT_EQ(sink.rows[TableId::event],
            (TextRows{{"300", "7", "1", "task_create"}, {"300", "-", "-", "task_create"}}));
}

/// As the text of a mark, with a quote at each place where a long text is divided.
TEST(CsvText, ALongTextIsWhole) {
  test::TempDir dir;
  for (const size_t size : {2047, 2048, 2049, 4096, 4097, 10'000}) {
    const std::string path = dir / std::to_string(size);
    const std::string text(size, '"'), formula = "=" + std::string(size, 'x');
    CsvFiles files(path);
    const Cell first[] = {1, std::string_view(text), Cell()};
    const Cell second[] = {-2, std::string_view(formula), std::string_view("")};
    files.row(TableId::mark, first);
    files.row(TableId::mark, second);
    files.finish();
    EXPECT_EQ(test::read_csv(path + "/mark-0001.csv"),
              (TextRows{{"time_ns", "text", "node"}, {"1", text, "-"}, {"-2", "'" + formula, ""}}))
        << size;
  }
}

TEST(CsvText, DuckDbLearnsTheTypesOfTheColumns) {
  test::TempDir dir;
  CsvFiles files(dir / "t");
  files.finish();
  const std::string views = test::text_of(dir / "t/views.sql");
  EXPECT_EQ(
      views.find("-- The tables of this directory and their views, for DuckDB:\n"
                 "--   cd DIRECTORY && duckdb -init views.sql\n"
                 "CREATE VIEW thread AS SELECT * FROM read_csv('thread-*.csv', header = true,\n"
                 "  columns = {'id': 'BIGINT', 'tid': 'BIGINT', 'pid': 'BIGINT', "
                 "'name': 'VARCHAR', "),
      0u)
      << views;
  EXPECT_NE(
      views.find("CREATE VIEW mark AS SELECT * FROM read_csv('mark-*.csv', header = true,\n"
                 "  columns = {'time_ns': 'BIGINT', 'text': 'VARCHAR', 'node': 'VARCHAR'});\n"),
      std::string::npos)
      << views;
  EXPECT_NE(views.find("\nCREATE VIEW task AS\n"), std::string::npos) << views;
}

class TableViews : public ::testing::Test {
protected:
  TextRows answer(const std::string &question) {
    const std::string path = dir / "t.sqlite";
    SqliteFile file{OutputPlace(path)};
    for (const auto &[id, tid, name] :
         {std::tuple(0, 11, "old"), std::tuple(1, 11, "new"), std::tuple(2, 12, "b")}) {
      const Cell cells[] = {id,     tid,    10,    std::string_view(name), Cell(), Cell(), Cell(),
                            Cell(), Cell(), Cell()};
      file.row(TableId::thread, cells);
    }
    for (const auto &[tid, name, since] :
         {std::tuple(77, "late", 9), std::tuple(77, "early", 5), std::tuple(12, "peer", 7),
          std::tuple(0, "swapper", 1)}) {
      const Cell cells[] = {tid, tid, std::string_view(name), since, Cell()};
      file.row(TableId::peer, cells);
    }
    file.finish();
    return query(path, question);
  }
  test::TempDir dir;
};

TEST_F(TableViews, ATaskHasItsLastNameAndAThreadOfTheTraceComesFirst) {
  EXPECT_EQ(answer("SELECT tid, name FROM task ORDER BY tid"),
            (TextRows{{"0", "(idle)"}, {"11", "new"}, {"12", "b"}, {"77", "late"}}));
}

TEST_F(TableViews, TheDatabaseHasAVersionAndItsIndices) {
  EXPECT_EQ(answer("PRAGMA user_version"), (TextRows{{"1"}}));
  EXPECT_EQ(answer("PRAGMA page_size"), (TextRows{{"16384"}})) << "larger ones are fewer to find";
  EXPECT_EQ(answer("SELECT name, tbl_name FROM sqlite_master WHERE type = 'index' ORDER BY name"),
            (TextRows{{"slice_by_cpu", "slice"},
                      {"slice_by_thread", "slice"},
                      {"wakeup_by_tid", "wakeup"}}));
}

} // namespace
} // namespace ovnitrace
