// SPDX-License-Identifier: BSD-2-Clause
// `ovnitrace export --to sqlite` and `--to csv`: the tables hold what the trace does, and nothing
// in a name is more than a name.
#include "emulator/base/error.h"
#include "emulator/open/open_trace.h"
#include "emulator/summary/report.h"
#include "emulator/summary/summarizer.h"
#include "emulator/tables/csv_files.h"
#include "emulator/tables/sqlite_file.h"
#include "emulator/tables/trace_tables.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/files.h"
#include "tests/unit/support/ovni_streams.h"
#include "tests/unit/support/random_schedule.h"
#include "tests/unit/support/read_tables.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>

namespace ovnitrace {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::query;
using test::read_csv;
using test::TempDir;
using test::TextRows;
using test::TraceBuilder;

class Tables : public ::testing::Test {
protected:
  Tables() : trace(dir.path()) {}

  std::unique_ptr<EventSource> open() { return open_trace({{dir.path()}}, sink); }
  std::string sqlite(const Cut &cut = {}) {
    trace.write();
    const std::string path = out / "t.sqlite";
    SqliteFile file{OutputPlace(path)};
    put_tables(*open(), cut, file);
    file.finish();
    return path;
  }
  /// The directory.
  std::string csv(uint64_t most_rows = CsvFiles::kMostRows, const Cut &cut = {}) {
    trace.write();
    const std::string path = out / "t.csv";
    fs::remove_all(path);
    CsvFiles files(path, most_rows);
    put_tables(*open(), cut, files);
    files.finish();
    return path;
  }
  json info(const Cut &cut = {}) {
    const auto source = open();
    const Summary summary = summarize(*source, cut);
    return json::parse(json_report({dir.path(), {}, source->catalog(), summary}));
  }
  /// A thread that is preempted, and one that waits for the disk and is woken.
  void two_threads() {
    auto &cpu = trace.cpu(0).at(1100).start().id(1, 11, 11, "a").id(2, 22, 11, "b");
    cpu.dispatch(1).at(1200).epilogue(1, 22).dispatch(2);
    cpu.at(1300).record(FTrace_EVT_task_sleep | 4 << 8, 2, // 2 + 74 is 4 * 16 + 12
                        11u | FTRACE_OFFCPU_DISK << FTRACE_REASON_SHIFT | 12u << 28);
    cpu.dispatch(1);
    cpu.at(1400).activate(2, 77, FTRACE_WAKER_HARDIRQ).at(1450).end(1, 11).dispatch(2);
    cpu.at(1460).record(FTrace_EVT_user_event_3, 300, 70000).at(1600).stop();
  }
  size_t left_over() const {
    return size_t(std::distance(fs::directory_iterator(out.path()), fs::directory_iterator()));
  }

  TempDir dir, out;
  TraceBuilder trace;
  test::CollectingSink sink;
};

TEST_F(Tables, HaveTheirColumnsAndWhatIsNotKnownIsNothing) {
  two_threads();
  const std::string path = sqlite();
  EXPECT_EQ(query(path, "SELECT * FROM thread"),
            (TextRows{{"0", "11", "11", "a", "a", dir.path(), "-", "-", "-", "-"},
                      {"1", "22", "11", "b", "a", dir.path(), "-", "-", "-", "-"}}));
  EXPECT_EQ(query(path, "SELECT * FROM slice WHERE thread = 1 ORDER BY start_ns"),
            (TextRows{{"1", "-", "unknown", "0", "100", "-", "-", "-", "-"},
                      {"1", "0", "running", "100", "200", "disk", "-", "11", "-"},
                      {"1", "0", "paused", "200", "300", "disk", "call 74", "11", "-"},
                      {"1", "0", "warming", "300", "350", "-", "-", "-", "-"},
                      {"1", "0", "running", "350", "500", "-", "-", "-", "-"}}));
  EXPECT_EQ(query(path, "SELECT * FROM wakeup"), (TextRows{{"300", "-", "22", "hardirq"}}));
  EXPECT_EQ(query(path, "SELECT time_ns, cpu, thread, details->>'par1' FROM event "
                        "WHERE name = 'user_event_3'"),
            (TextRows{{"360", "0", "1", "300"}}));
  EXPECT_EQ(read_csv(csv() + "/slice-0001.csv").front(),
            (test::TextRow{"thread", "cpu", "state", "start_ns", "end_ns", "reason", "blocked_in",
                           "next_tid", "waker_tid"}));
}

TEST_F(Tables, OnlyAThreadIsAWaker) {
  auto &cpu = trace.cpu(0).at(100).start().id(1, 11, 11, "a").dispatch(1);
  uint64_t time = 100;
  for (const uint32_t context : {FTRACE_WAKER_TASK, FTRACE_WAKER_SOFTIRQ, FTRACE_WAKER_UNKNOWN}) {
    cpu.at(time += 10).sleep(1, 77);
    cpu.at(time += 10).activate(1, 77, context).dispatch(1);
  }
  cpu.at(time + 10).stop();
  const std::string path = sqlite();
  EXPECT_EQ(query(path, "SELECT waker_tid, context FROM wakeup"),
            (TextRows{{"77", "task"}, {"-", "softirq"}, {"-", "unknown"}}));
  EXPECT_EQ(query(path, "SELECT by_tid, context FROM waking ORDER BY context"),
            (TextRows{{"-", "softirq"}, {"77", "task"}, {"-", "unknown"}}));
}

TEST_F(Tables, ViewsAnswerTheUsualQuestions) {
  two_threads();
  trace.json(R"({"version": 1, "begin_ns": 1100, "end_ns": 1600,
    "peers": [{"tid": 77, "pid": 77, "name": "nginx", "since_ns": 5}]})");
  const std::string path = sqlite();
  EXPECT_EQ(
      query(path, "SELECT tid, running_ns, cooling_ns, warming_ns, paused_ns, unknown_ns "
                  "FROM thread_time"),
      (TextRows{{"11", "250", "100", "0", "0", "0"}, {"22", "250", "0", "50", "100", "100"}}));
  EXPECT_EQ(query(path, "SELECT tid, by_tid, by_name, times FROM preemption"),
            (TextRows{{"11", "22", "b", "1"}}));
  EXPECT_EQ(query(path, "SELECT tid, name, by_tid, by_name, context, times FROM waking"),
            (TextRows{{"22", "b", "-", "-", "hardirq", "1"}}));
  EXPECT_EQ(query(path, "SELECT tid, start_ns, ns, waker, context FROM latency"),
            (TextRows{{"22", "300", "50", "-", "hardirq"}}));
  EXPECT_EQ(query(path, "SELECT cpu, tid, running_ns FROM cpu_time ORDER BY tid"),
            (TextRows{{"0", "11", "250"}, {"0", "22", "250"}}));
}

TEST_F(Tables, OfAPartHaveOnlyItsMarks) {
  two_threads();
  trace.json(R"({"version": 1, "begin_ns": 1100, "end_ns": 1600, "marks": [
    {"time_ns": 1050, "text": "before"}, {"time_ns": 1150, "text": "a"},
    {"time_ns": 1300, "text": "b"}, {"time_ns": 1500, "text": "c"}]})");
  Cut cut;
  cut.from = 100;
  cut.to = 300;
  EXPECT_EQ(query(sqlite(), "SELECT text FROM mark"), (TextRows{{"a"}, {"b"}, {"c"}}));
  EXPECT_EQ(query(sqlite(cut), "SELECT text FROM mark"), (TextRows{{"b"}}));
}

/// The sums of any trace, and of any part of it, are those of `info`, and both outputs are equal.
TEST_F(Tables, SumUpToWhatInfoSays) {
  for (unsigned seed = 0; seed < 40; seed++) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    trace = TraceBuilder(dir.path());
    const uint64_t end = test::random_schedule(trace, random, seed % 2 ? 150 : 0);
    Cut cut;
    if (seed % 3 == 1) {
      cut.from = random() % (end - 100);
      cut.to = cut.from + random() % 500;
    } else if (seed % 3 == 2) {
      cut.tids = {2, 3};
    }
    const std::string path = sqlite(cut), files = csv(CsvFiles::kMostRows, cut);
    const json all = info(cut);
    EXPECT_EQ(query(path, "SELECT count(*) FROM thread")[0][0],
              std::to_string(all["threads"].size()));
    EXPECT_EQ(query(path, "SELECT count(*) FROM event")[0][0], all["events"].dump());
    for (const json &thread : all["threads"]) {
      const std::string tid = thread["tid"].dump();
      const json &time = thread["time_ns"];
      EXPECT_EQ(query(path, "SELECT running_ns, cooling_ns, warming_ns, paused_ns, unknown_ns "
                            "FROM thread_time WHERE tid = " +
                                tid),
                (TextRows{{time["running"].dump(), time["cooling"].dump(), time["warming"].dump(),
                           time["paused"].dump(), time["unknown"].dump()}}));
      EXPECT_EQ(query(path, "SELECT count(*) FROM wakeup WHERE tid = " + tid)[0][0],
                thread["wakeups"].dump());
      EXPECT_EQ(query(path, "SELECT count(*) FROM latency WHERE tid = " + tid)[0][0],
                thread["wakeup_latency_ns"]["count"].dump());
    }
    for (const char *table : {"thread", "slice", "wakeup", "event", "peer"}) {
      TextRows rows = read_csv(files + "/" + table + "-0001.csv");
      rows.erase(rows.begin());
      EXPECT_EQ(rows, query(path, std::string("SELECT * FROM ") + table + " ORDER BY rowid"))
          << table;
    }
  }
}

TEST_F(Tables, ANameIsOnlyAName) {
  const std::vector<std::string> names = {"=1+1",   "@x",          "-2+3",     "+4",
                                          "a\"b,c", "<b>&\n'\xff", "'); DROP", "a=1"};
  auto &cpu = trace.cpu(0).at(100).start();
  for (uint32_t n = 0; n < names.size(); n++)
    cpu.id(uint16_t(n + 1), n + 10, n + 10, names[n]);
  cpu.dispatch(1).at(200).stop();
  const std::string path = sqlite(), files = csv();
  TextRows rows = read_csv(files + "/thread-0001.csv");
  ASSERT_EQ(rows.size(), names.size() + 1);
  const std::vector<std::string> in_csv = {"'=1+1",  "'@x",     "'-2+3",    "'+4",
                                           "a\"b,c", "<b>&?'?", "'); DROP", "a=1"};
  for (size_t n = 0; n < names.size(); n++)
    EXPECT_EQ(rows[n + 1][3], in_csv[n]);
  EXPECT_EQ(
      query(path, "SELECT name FROM thread"),
      (TextRows{
          {"=1+1"}, {"@x"}, {"-2+3"}, {"+4"}, {"a\"b,c"}, {"<b>&?'?"}, {"'); DROP"}, {"a=1"}}));
}

TEST_F(Tables, CsvStartsANewFileAfterSoManyRows) {
  two_threads();
  const std::string files = csv(3);
  TextRows all;
  for (const char *part : {"/slice-0001.csv", "/slice-0002.csv", "/slice-0003.csv"}) {
    TextRows rows = read_csv(files + part);
    EXPECT_EQ(rows.front().front(), "thread") << "each file names its columns";
    EXPECT_LE(rows.size(), 4u);
    all.insert(all.end(), rows.begin() + 1, rows.end());
  }
  EXPECT_EQ(all.size(), 9u);
  EXPECT_FALSE(fs::exists(files + "/slice-0004.csv"));
  EXPECT_FALSE(fs::exists(files + "/wakeup-0002.csv"));
}

TEST_F(Tables, EventsOfOvniHaveTheirLetters) {
  test::write_stream(dir, "n", 10, 10, test::execute(100, 0) + test::stream_event("OHe", 200));
  EXPECT_EQ(query(sqlite(), "SELECT time_ns, name FROM event ORDER BY time_ns"),
            (TextRows{{"0", "OHx"}, {"100", "OHe"}}));
}

/// Longer than what the file reserves at once.
TEST_F(Tables, ATextOfAnyLengthIsWholeInCsv) {
  const size_t piece = OutputFile::kMostReserve / 2;
  CsvFiles files(out / "t.csv");
  TextRows expected;
  for (const size_t size : {piece - 1, piece, piece + 1, 3 * piece}) {
    std::string text(size, '"');
    text[size / 2] = 'x';
    const Cell cells[] = {size, std::string_view(text), std::string_view("node")};
    files.row(TableId::mark, cells);
    expected.push_back({std::to_string(size), text, "node"});
  }
  files.finish();
  TextRows rows = read_csv(out / "t.csv/mark-0001.csv");
  EXPECT_EQ(rows.at(0), (std::vector<std::string>{"time_ns", "text", "node"}));
  rows.erase(rows.begin());
  EXPECT_TRUE(rows == expected);
}

TEST_F(Tables, TraceWithoutEventsHasEmptyTables) {
  trace.cpu(0).at(100).start().stop();
  EXPECT_EQ(query(sqlite(), "SELECT (SELECT count(*) FROM thread), (SELECT count(*) FROM slice), "
                            "(SELECT count(*) FROM latency)"),
            (TextRows{{"0", "0", "0"}}));
  EXPECT_EQ(read_csv(csv() + "/slice-0001.csv").size(), 1u);
}

TEST_F(Tables, LeaveNothingWhereTheyCannotBeWritten) {
  two_threads();
  trace.write();
  EXPECT_THROW(SqliteFile(OutputPlace(out / "no/t.sqlite")), Error);
  EXPECT_THROW(SqliteFile(OutputPlace("/dev/full")), Error);
  EXPECT_THROW(CsvFiles(out / "no/t.csv"), Error);
  {
    SqliteFile file{OutputPlace(out / "t.sqlite")};
    CsvFiles files(out / "t.csv");
    put_tables(*open(), {}, file);
  } // not finished
  EXPECT_EQ(left_over(), 0u);
  fs::create_directory(out / "full");
  test::TraceBuilder::write_file(out / "full/mine", "x", 1);
  EXPECT_THROW(CsvFiles(out / "full"), Error) << "it is not overwritten";
  EXPECT_EQ(test::text_of(out / "full/mine"), "x");
}

TEST_F(Tables, ReplaceALinkAndDoNotFollowIt) {
  two_threads();
  test::TraceBuilder::write_file(out / "precious", "x", 1);
  fs::create_symlink(out / "precious", out / "t.sqlite");
  EXPECT_EQ(query(sqlite(), "SELECT count(*) FROM thread"), (TextRows{{"2"}}));
  EXPECT_EQ(test::text_of(out / "precious"), "x");
}

} // namespace
} // namespace ovnitrace
