// SPDX-License-Identifier: BSD-2-Clause
// Which runs, causes and groups `ovnitrace diff` compares, and which differences it takes as shown.
#include "emulator/diff/comparison.h"
#include "emulator/diff/sentence.h"

#include <gtest/gtest.h>

namespace ovnitrace {
namespace {

using Kind = TimeCause::Kind;

class Compare : public ::testing::Test {
protected:
  /// A run of `app`, which runs and is blocked in each call for so long.
  RunTimes run(uint64_t running, const std::map<std::string, uint64_t> &blocked = {}) {
    const std::string app = runs.names.group("app", "app", {});
    RunTimes run;
    run.of = app;
    run.path[{.group = app, .kind = Kind::running}] = run.wall = running;
    for (const auto &[call, ns] : blocked) {
      run.path[{.group = app, .kind = Kind::blocked, .call = call}] = ns;
      run.wall += ns;
    }
    run.life = run.path;
    run.threads = {{app, 1}};
    return run;
  }
  /// Adds threads of a name, which run so long together.
  void add_threads(RunTimes &run, const std::string &name, size_t count, uint64_t running) {
    const std::string group = runs.names.group("app", name, {});
    run.threads[group] = count;
    run.life[{.group = group, .kind = Kind::running}] = running;
  }
  const Change &change_of(const Comparison &all, const std::string &call) {
    for (const CauseChange &one : all.causes)
      if (one.cause.call == call)
        return one.change;
    throw std::runtime_error("no cause " + call);
  }

  ComparedRuns runs;
};

TEST_F(Compare, TheMiddleHalfOfTheRunsCounts) {
  const std::pair<size_t, uint64_t> cases[] = {// of runs of 10, 20, 40, 80, …: the mean
                                               {1, 10},
                                               {2, 15},
                                               {3, (10 + 20 + 40) / 3},
                                               {4, (20 + 40) / 2},
                                               {7, (20 + 40 + 80 + 160 + 320) / 5},
                                               {8, (40 + 80 + 160 + 320) / 4}};
  for (const auto &[count, mean] : cases) {
    runs.a.clear();
    for (size_t n = 0; n < count; n++)
      runs.a.insert(n % 2 ? runs.a.begin() : runs.a.end(), run(10u << n)); // in no order
    runs.b = {run(5)};
    const Comparison all = compare(runs);
    EXPECT_EQ(all.wall.a, mean) << count;
    EXPECT_EQ(all.wall.b, 5u);
    EXPECT_EQ(all.causes.at(0).change.a, mean) << count;
  }
}

TEST_F(Compare, RemaindersGoToTheCausesThatLoseMost) {
  for (const uint64_t n : {0, 1, 1})
    runs.a.push_back(run(10 + n, {{"x", 20 + n}, {"y", 30 + (n ? 0 : 1)}}));
  runs.b = runs.a;
  const Comparison all = compare(runs);
  EXPECT_EQ(all.wall.a, (61u + 62 + 62) / 3);
  uint64_t sum = 0;
  for (const CauseChange &one : all.causes)
    sum += one.change.a;
  EXPECT_EQ(sum, all.wall.a);
  EXPECT_EQ(change_of(all, "").a, 11u) << "10 2/3";
  EXPECT_EQ(change_of(all, "x").a, 20u) << "20 2/3, and the first one was rounded up";
  EXPECT_EQ(change_of(all, "y").a, 30u);
}

TEST_F(Compare, CausesAreSortedByTheirChangeThenBySize) {
  runs.a = {run(100, {{"shrinks", 50}, {"new", 0}, {"large", 9}, {"small", 3}})};
  runs.b = {run(110, {{"shrinks", 10}, {"new", 20}, {"large", 9}, {"small", 3}})};
  std::vector<std::string> calls;
  for (const CauseChange &one : compare(runs).causes)
    calls.push_back(one.cause.call);
  EXPECT_EQ(calls, (std::vector<std::string>{"shrinks", "new", "", "large", "small"}));
}

TEST_F(Compare, TooFewRunsToShowACauseAreSaidSo) {
  const auto compare_runs = [&](size_t count, const std::map<std::string, uint64_t> &more) {
    runs.a.clear();
    runs.b.clear();
    for (size_t n = 0; n < count; n++) { // no wall time is shown to differ
      std::map<std::string, uint64_t> a = more, b = more;
      a["x"] = 500;
      b["x"] = 1000;
      runs.a.push_back(run(1000 + n, a));
      runs.b.push_back(run(500 + n, b));
    }
    return compare(runs);
  };
  const auto says = [&](const Comparison &all, const std::string &end) {
    return verdict(all, runs).ends_with(end);
  };
  const Comparison five = compare_runs(5, {{"y", 300}}), six = compare_runs(6, {{"y", 300}});
  EXPECT_FALSE(five.causes.front().change.shown) << "1 % for three causes together";
  EXPECT_TRUE(six.causes.front().change.shown);
  EXPECT_TRUE(says(six, "p = 1.")) << verdict(six, runs);
  compare_runs(5, {});
  EXPECT_TRUE(says(five, " So few runs cannot show a single cause: that takes at least 6 against "
                         "6."))
      << verdict(five, runs);
  const Comparison four_causes = compare_runs(6, {{"y", 300}, {"z", 300}});
  EXPECT_TRUE(four_causes.causes.front().change.shown);
  EXPECT_TRUE(says(four_causes, " So few runs cannot show a single line of THREADS: that takes at "
                                "least 7 against 7."))
      << verdict(four_causes, runs);
}

TEST_F(Compare, ACauseOfLessThanAHundredthIsNotJudged) {
  for (const uint64_t rest : {990u, 1090u}) {
    runs.a.clear();
    runs.b.clear();
    for (int n = 0; n < 6; n++) {
      runs.a.push_back(run(rest, {{"x", 10}}));
      runs.b.push_back(run(rest / 2, {{"x", 1}}));
    }
    const Comparison all = compare(runs);
    EXPECT_TRUE(all.wall.shown);
    EXPECT_EQ(change_of(all, "x").shown, rest == 990) << rest;
  }
}

TEST_F(Compare, CausesShareTheLevelIfTheWholeIsNotShown) {
  for (int n = 0; n < 5; n++) { // 5 against 5: the least p is 2 of 252, less than 1 %
    runs.a.push_back(run(1000, {{"x", 500}, {"y", 100}}));
    runs.b.push_back(run(1000, {{"x", 100}, {"y", 500}}));
  }
  Comparison all = compare(runs);
  ASSERT_TRUE(all.tested);
  EXPECT_FALSE(all.wall.shown);
  EXPECT_FALSE(change_of(all, "x").shown);
  for (int n = 0; n < 3; n++) { // 8 against 8: 2 of 12870
    runs.a.push_back(runs.a.front());
    runs.b.push_back(runs.b.front());
  }
  all = compare(runs);
  EXPECT_TRUE(change_of(all, "x").shown);
  EXPECT_TRUE(change_of(all, "y").shown);
  EXPECT_FALSE(change_of(all, "").shown);
}

TEST_F(Compare, GroupsOfBothSidesAreSortedByChange) {
  RunTimes a = run(100), b = run(101), more = run(90);
  add_threads(a, "net", 2, 30);
  add_threads(a, "old", 1, 5);
  add_threads(b, "net", 3, 70);
  add_threads(b, "new", 1, 5);
  add_threads(more, "late", 1, 1);
  runs.a = {a, more};
  runs.b = {b, b};
  const Comparison all = compare(runs);
  ASSERT_EQ(all.groups.size(), 2u);
  EXPECT_EQ(runs.names.group_text(all.groups[0].group), "net");
  EXPECT_EQ(all.groups[0].a_threads, 2u) << "of the first run";
  EXPECT_EQ(all.groups[0].b_threads, 3u);
  EXPECT_EQ(all.groups[0].life.a, 15u) << "the mean of 30 and nothing";
  EXPECT_EQ(all.groups[0].life.b, 70u);
  EXPECT_EQ(all.groups[1].life.a, 95u);
  ASSERT_EQ(all.only_a.size(), 2u);
  EXPECT_EQ(runs.names.group_text(all.only_a[0]), "late");
  EXPECT_EQ(runs.names.group_text(all.only_a[1]), "old");
  ASSERT_EQ(all.only_b.size(), 1u);
  EXPECT_EQ(runs.names.group_text(all.only_b[0]), "new");
}

TEST_F(Compare, ALossInAGroupRemovesTheVerdictOfTheGroup) {
  for (int n = 0; n < 6; n++) {
    runs.a.push_back(run(1000));
    runs.b.push_back(run(2000));
    add_threads(runs.a[size_t(n)], "net", 1, 10'000);
    add_threads(runs.b[size_t(n)], "net", 1, 20'000);
  }
  const std::string net = runs.names.group("app", "net", {}), app = runs.a[0].of;
  const auto shown = [&] {
    const Comparison all = compare(runs);
    std::string text = all.wall.shown ? "wall " : "";
    text += all.causes[0].change.shown ? "cause " : "";
    for (const GroupChange &group : all.groups)
      text += group.life.shown ? runs.names.group_text(group.group) + " " : "";
    return text;
  };
  EXPECT_EQ(shown(), "wall cause net app ");
  runs.b[3].lossy = {net};
  EXPECT_EQ(shown(), "wall app ") << "the path may lead through the other thread";
  runs.b[3].lossy = {app};
  EXPECT_EQ(shown(), "net ");
  runs.b[3].lossy = {};
  runs.a[5].lossy = {app};
  EXPECT_EQ(shown(), "net ");
  runs.a[5].lossy = {net};
  EXPECT_EQ(shown(), "wall app ");
}

} // namespace
} // namespace ovnitrace
