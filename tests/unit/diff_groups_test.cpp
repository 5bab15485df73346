// SPDX-License-Identifier: BSD-2-Clause
// How `ovnitrace diff` puts groups of threads together, and what it judges.
#include "emulator/diff/comparison.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ovnitrace {
namespace {

using Kind = TimeCause::Kind;
using Numbers = std::vector<uint64_t>;

class DiffGroups : public ::testing::Test {
protected:
  RunTimes run(uint64_t wall, uint64_t other = 0) {
    RunTimes run;
    run.of = group("app");
    run.wall = wall + other;
    run.path[{.group = run.of, .kind = Kind::running}] = wall;
    if (other)
      run.path[{.group = run.of, .kind = Kind::blocked, .call = "x"}] = other;
    return run;
  }
  std::string group(const std::string &name) { return runs.names.group("app", name, {}); }
  /// Adds a thread that runs, is preempted and is blocked for so long.
  void add(RunTimes &run, const std::string &name, uint64_t running, uint64_t preempted,
           uint64_t blocked) {
    run.threads[group(name)]++;
    run.life[{.group = group(name), .kind = Kind::running}] = running;
    run.life[{.group = group(name), .kind = Kind::preempted, .culprit = "hog"}] = preempted;
    run.life[{.group = group(name), .kind = Kind::blocked, .call = "read"}] = blocked;
  }
  std::vector<std::string> names(const Comparison &all) const {
    std::vector<std::string> names;
    for (const GroupChange &one : all.groups)
      names.push_back(runs.names.group_text(one.group));
    return names;
  }

  ComparedRuns runs;
};

TEST_F(DiffGroups, AGroupHasItsOwnCausesOnly) {
  runs.a = {run(1)};
  runs.b = {run(1)};
  for (const auto &[name, more] : {std::pair("net", 0u), std::pair("neta", 1u)}) {
    add(runs.a[0], name, 30 + more, 5, 7);
    add(runs.b[0], name, 10, 50, 7 + more);
  }
  const Comparison all = compare(runs);
  ASSERT_EQ(all.groups.size(), 2u);
  const auto numbers = [](const GroupChange &group) {
    Numbers numbers = {group.life.a, group.life.b};
    for (const CauseChange &one : group.causes)
      numbers.insert(numbers.end(), {uint64_t(one.cause.kind), one.change.a, one.change.b});
    return numbers;
  };
  const auto kind = [](Kind kind) { return uint64_t(kind); };
  EXPECT_EQ(numbers(all.groups[0]),
            (Numbers{42, 67, kind(Kind::preempted), 5, 50, kind(Kind::running), 30, 10,
                     kind(Kind::blocked), 7, 7}));
  EXPECT_EQ(numbers(all.groups[1]),
            (Numbers{43, 68, kind(Kind::preempted), 5, 50, kind(Kind::running), 31, 10,
                     kind(Kind::blocked), 7, 8}));
}

/// The life of "shifts" does not change, and nothing is known of "silent".
TEST_F(DiffGroups, TheGroupOfTheLargestChangeOfACauseComesFirst) {
  runs.a = {run(1)};
  runs.b = {run(1)};
  runs.a[0].threads[group("silent")] = runs.b[0].threads[group("silent")] = 1;
  add(runs.a[0], "grows", 10, 0, 0);
  add(runs.b[0], "grows", 50, 0, 0);
  add(runs.a[0], "shifts", 100, 0, 0);
  add(runs.b[0], "shifts", 40, 60, 0);
  const Comparison all = compare(runs);
  EXPECT_EQ(names(all), (std::vector<std::string>{"shifts", "grows", "silent"}));
  EXPECT_EQ(all.groups[0].life.delta(), 0);
  EXPECT_EQ(all.groups[2].life.a, 0u);
}

TEST_F(DiffGroups, ThreadsAreCountedInTheFirstRunOfEachSide) {
  runs.a = {run(1), run(1)};
  runs.b = {run(1), run(1)};
  runs.a[0].threads[group("net")] = 4;
  runs.a[1].threads[group("net")] = 5;
  runs.b[1].threads[group("net")] = 6;
  const Comparison all = compare(runs);
  ASSERT_EQ(all.groups.size(), 1u);
  EXPECT_EQ(all.groups[0].a_threads, 4u);
  EXPECT_EQ(all.groups[0].b_threads, 0u) << "only a later run has some";
}

TEST_F(DiffGroups, OneRunThatIsAPartOrHasRegionsIsEnough) {
  runs.a = {run(1), run(1)};
  runs.b = {run(1), run(1)};
  EXPECT_FALSE(compare(runs).parts);
  EXPECT_FALSE(compare(runs).regions);
  for (std::vector<RunTimes> *side : {&runs.a, &runs.b})
    for (RunTimes &one : *side) {
      one.part = true;
      EXPECT_TRUE(compare(runs).parts);
      EXPECT_FALSE(compare(runs).regions);
      one.part = false;
      one.regions = true;
      EXPECT_TRUE(compare(runs).regions);
      EXPECT_FALSE(compare(runs).parts);
      one.regions = false;
    }
}

/// As the other way round: 10 of 1000 is a hundredth, of 1100 it is less.
TEST_F(DiffGroups, ACauseIsJudgedByTheLongerSide) {
  for (const uint64_t rest : {990u, 1090u}) {
    runs.a.clear();
    runs.b.clear();
    for (int n = 0; n < 6; n++) {
      runs.a.push_back(run(rest / 2, 1));
      runs.b.push_back(run(rest, 10));
    }
    const Comparison all = compare(runs);
    ASSERT_EQ(all.causes.size(), 2u);
    EXPECT_EQ(all.causes[1].cause.call, "x");
    EXPECT_EQ(all.causes[1].change.shown, rest == 990) << rest;
    EXPECT_EQ(all.runs_for_cause, 0u);
  }
}

TEST_F(DiffGroups, ALossIsOfAGroupOfThePathsEndOrOfAny) {
  runs.a = {run(1), run(1)};
  EXPECT_FALSE(loses_any(runs.a));
  runs.a[1].lossy = {group("net")};
  EXPECT_TRUE(loses_any(runs.a));
  EXPECT_TRUE(loses(runs.a, group("net")));
  EXPECT_FALSE(loses(runs.a, group("app")));
  EXPECT_FALSE(loses_path_end(runs.a));
  runs.a[1].of = group("net");
  EXPECT_TRUE(loses_path_end(runs.a)) << "the path of that run";
}

TEST_F(DiffGroups, RunsOfMixedConditionsAreNamedThoughBothSidesHaveThem) {
  runs.a = {run(1), run(1)};
  for (size_t n : {0, 1})
    runs.a[n].conditions = {{"kernel", n ? "6.18" : "6.1"}, {"host", "box"}};
  runs.b = runs.a;
  const Comparison all = compare(runs);
  ASSERT_EQ(all.conditions.size(), 1u);
  EXPECT_EQ(all.conditions[0].what, "kernel");
  EXPECT_EQ(all.conditions[0].a, "6.1, 6.18");
  EXPECT_EQ(all.conditions[0].b, "6.1, 6.18");
}

} // namespace
} // namespace ovnitrace
