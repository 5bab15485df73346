// SPDX-License-Identifier: BSD-2-Clause
// The tables of `ovnitrace diff` and `stat -r`: how many lines and columns they have.
#include "emulator/diff/repeat_report.h"
#include "tests/unit/support/diff_rig.h"

namespace ovnitrace {
namespace {

using Kind = TimeCause::Kind;

/// A comparison that is made by hand.
class DiffTables : public ::testing::Test {
protected:
  DiffTables() : app(runs.names.group("app", "app", {})) {
    for (std::vector<RunTimes> *side : {&runs.a, &runs.b})
      side->emplace_back().of = app;
  }
  CauseChange block(const std::string &call, uint64_t a, uint64_t b) {
    return {{.group = app, .kind = Kind::blocked, .call = call}, {a, b}};
  }
  static Change judged(uint64_t a, uint64_t b, double from, double to, bool shown) {
    return {a, b, Shift{0, {{from, to}}, 0.5}, shown};
  }
  std::string text(size_t top, size_t columns = 120, const std::vector<GateResult> &gates = {}) {
    return diff_text({runs, all, gates}, top, columns);
  }
  /// Returns the tables: all that follows the first empty line.
  std::string tables(size_t top, size_t columns = 120) {
    const std::string whole = text(top, columns);
    return whole.substr(whole.find("\n\n") + 1);
  }

  ComparedRuns runs;
  std::string app;
  Comparison all;
};

TEST_F(DiffTables, ThoseOfSeveralRunsHaveIntervalsAndTildes) {
  all.tested = true;
  all.wall = judged(110, 230, 99.6, 140.4, true);
  all.causes = {block("read", 10, 70), block("write", 40, 60), block("open", 60, 100)};
  all.causes[0].change = judged(10, 70, 50.5, 69.4, true);
  all.causes[1].change = judged(40, 60, -2.6, 30, false);
  all.groups = {{app, 1, 2, judged(7, 5, -3, 0, false), {block("read", 7, 5)}}};
  EXPECT_EQ("\n" + tables(0, 100), R"(

CRITICAL PATH  CAUSE                  A       B   CHANGE     FROM       TO
app            blocked in read    10 ns   70 ns   +60 ns   +51 ns   +69 ns
app            blocked in write   40 ns   60 ns   +20 ns    -3 ns   +30 ns  ~
app            blocked in open    60 ns  100 ns   +40 ns
all                              110 ns  230 ns  +120 ns  +100 ns  +140 ns

THREADS  TIME                  A     B  CHANGE   FROM  TO
app      1 thread, then 2   7 ns  5 ns   -2 ns  -3 ns   0  ~
           blocked in read  7 ns  5 ns   -2 ns
)");
  EXPECT_EQ(tables(0, 99).find("FROM"), std::string::npos);
  EXPECT_NE(tables(0, 99).find(" +20 ns  ~\n"), std::string::npos) << tables(0, 99);
}

TEST_F(DiffTables, OneCauseMoreThanTheTopIsShownInsteadOfOneOther) {
  all.causes = {block("a", 1, 10), block("b", 2, 20), block("c", 3, 30)};
  all.groups = {{app, 1, 1, {6, 60}, all.causes}};
  const auto has = [&](size_t top, const std::string &line) {
    return tables(top).find(line) != std::string::npos;
  };
  EXPECT_TRUE(has(2, "blocked in c"));
  EXPECT_FALSE(has(2, " others"));
  all.causes.push_back(block("d", 4, 40));
  all.groups[0].causes = all.causes;
  EXPECT_FALSE(has(2, "blocked in c"));
  EXPECT_TRUE(has(2, "\n2 others                     7 ns  70 ns  +63 ns\n")) << tables(2);
  EXPECT_TRUE(has(2, "\n           2 others      7 ns  70 ns  +63 ns\n")) << tables(2);
  EXPECT_TRUE(has(3, "blocked in d"));
  EXPECT_TRUE(has(0, "blocked in d"));
}

TEST_F(DiffTables, GroupsBeyondTheTopAreCounted) {
  for (const char *name : {"x", "y", "z"})
    all.groups.push_back({runs.names.group("app", name, {}), 2, 2, {1, 2}, {}});
  const auto end = [&](size_t top) {
    const std::string whole = text(top);
    return whole.substr(whole.rfind('\n', whole.size() - 2) + 1);
  };
  EXPECT_EQ(end(1), "2 other groups of threads changed less: --top 0 lists all.\n");
  EXPECT_EQ(end(2), "1 other group of threads changed less: --top 0 lists all.\n");
  for (const size_t top : {3, 4, 0})
    EXPECT_EQ(end(top), "z        2 threads  1 ns  2 ns   +1 ns\n") << top;
}

TEST_F(DiffTables, GroupsWithoutAPartnerAreNamedBelow) {
  all.only_a = {runs.names.group("app", "old", {}), runs.names.group("app", "io-1", {})};
  const auto ends_with = [&](const std::string &lines) { return text(0).ends_with(lines); };
  EXPECT_TRUE(ends_with("CHANGE\n\nOnly in A: old, io-1\n")) << text(0);
  std::swap(all.only_a, all.only_b);
  EXPECT_TRUE(ends_with("CHANGE\n\nOnly in B: old, io-1\n")) << text(0);
  all.only_a = {runs.names.group("app", "new", {})};
  EXPECT_TRUE(ends_with("CHANGE\n\nOnly in A: new\nOnly in B: old, io-1\n--match OLD=NEW matches "
                        "threads or processes that have another name in B.\n"))
      << text(0);
}

TEST_F(DiffTables, ConditionsComeFirstAndGatesLast) {
  all.conditions = {{"kernel", "6.1", "6.2"}, {"CPUs", "1", "2"}};
  all.only_a = {app};
  const std::string whole = text(0, 120, {{"wall<+5%", 1000, 900, true, ""}});
  EXPECT_TRUE(
      whole.starts_with("The conditions differ:\n  kernel: 6.1 in A, 6.2 in B\n  CPUs: 1 in "
                        "A, 2 in B\n\nB takes as long as A.\n"))
      << whole;
  EXPECT_TRUE(whole.ends_with("\n\nOnly in A: app\n\npassed: wall<+5%: 1.000 us in A, 900 ns in B "
                              "(-10.0 %)\n"))
      << whole;
}

TEST_F(DiffTables, OneRunIsCountedAndLinesAreNoWiderThanTheTerminal) {
  RunTimes &run = runs.a[0];
  run.wall = 5;
  run.path[{
      .group = app, .kind = Kind::blocked, .call = "a_call_with_a_name_that_is_very_long_indeed"}] =
      5;
  const auto widest = [&](size_t columns) {
    const std::string lines = repeat_text(runs.a, runs.names, columns);
    EXPECT_TRUE(lines.starts_with("1 RUN ")) << lines;
    size_t most = 0;
    for (size_t at = 0, end; (end = lines.find('\n', at)) != lines.npos; at = end + 1)
      most = std::max(most, end - at);
    return most;
  };
  EXPECT_GT(widest(200), 90u);
  EXPECT_LE(widest(80), 80u + 2) << "the ellipsis has 3 bytes";
}

TEST_F(DiffTables, CausesWhoseMedianIsNothingHaveNoLine) {
  std::vector<RunTimes> side(3, runs.a[0]);
  const TimeCause rare = {.group = app, .kind = Kind::throttled};
  side[0].path[rare] = 7;
  EXPECT_TRUE(repeat_text(side, runs.names, 100).ends_with("MOST  SPREAD\n"));
  side[1].path[rare] = 1;
  EXPECT_TRUE(repeat_text(side, runs.names, 100)
                  .ends_with("\napp            throttled    1 ns      0  7 ns  100.0 %\n"))
      << repeat_text(side, runs.names, 100);
}

} // namespace
} // namespace ovnitrace
