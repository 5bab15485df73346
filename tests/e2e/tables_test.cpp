// SPDX-License-Identifier: BSD-2-Clause
// `export --to sqlite` and `--to csv` of a real capture: the sums are those of `info --json`.
#include "tests/e2e/support/e2e.h"
#include "tests/unit/support/read_tables.h"

#include <nlohmann/json.hpp>

namespace ovnitrace::test {

class ExportedTables : public CaptureTest {};

TEST_F(ExportedTables, SumsOfACaptureEqualThoseOfInfo) {
  record({installed("sample")});
  const nlohmann::json info =
      nlohmann::json::parse(run({.argv = {ovnitrace(), "info", "--json", trace()}}).out);
  for (const char *format : {"sqlite", "csv"}) {
    const Outcome outcome =
        run({.argv = {ovnitrace(), "export", "--to", format, trace(), "-o", path(format)}});
    EXPECT_EQ(outcome.status(), 0) << outcome.err;
  }
  const std::string database = path("sqlite");
  ASSERT_GE(info["threads"].size(), 10u);
  for (const nlohmann::json &thread : info["threads"]) {
    const nlohmann::json &time = thread["time_ns"], &switches = thread["switches"],
                         &latency = thread["wakeup_latency_ns"];
    const std::string tid = thread["tid"].dump();
    EXPECT_EQ(query(database, "SELECT running_ns, cooling_ns, warming_ns, paused_ns FROM "
                              "thread_time WHERE tid = " +
                                  tid),
              (TextRows{{time["running"].dump(), time["cooling"].dump(), time["warming"].dump(),
                         time["paused"].dump()}}));
    EXPECT_EQ(
        query(database, "SELECT count(*), coalesce(max(ns), 'null') FROM latency WHERE start_ns > "
                        "(SELECT min(time_ns) FROM event WHERE name = 'EXT_exec') AND tid = " +
                            tid),
        (TextRows{{latency["count"].dump(), latency["max"].dump()}}))
        << "info leaves out wakeups before the start of the program";
    EXPECT_EQ(query(database, "SELECT coalesce(sum(times), 0) FROM preemption WHERE tid = " + tid),
              (TextRows{{switches["preempted"].dump()}}));
  }
  EXPECT_EQ(query(database, "SELECT count(*) FROM event")[0][0], info["events"].dump());
  for (const char *table : {"thread", "slice", "wakeup", "event", "peer"}) {
    TextRows rows = read_csv(path("csv") + "/" + table + "-0001.csv");
    rows.erase(rows.begin());
    EXPECT_EQ(rows, query(database, std::string("SELECT * FROM ") + table + " ORDER BY rowid"));
  }
}

TEST_F(ExportedTables, NothingIsLeftIfTheyCannotBeWritten) {
  record({"true"});
  for (const char *format : {"sqlite", "csv"}) {
    const Outcome outcome = run(
        {.argv = {ovnitrace(), "export", "--to", format, trace(), "-o", path("no/such/place")}});
    EXPECT_EQ(outcome.status(), 1);
    EXPECT_NE(outcome.err.find("no/such/place"), std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.out, "");
  }
}

} // namespace ovnitrace::test
