// SPDX-License-Identifier: BSD-2-Clause
// `ovnitrace diff`: whatever happens in the runs, the sums close, and chance gives no verdicts.
#include "emulator/why/explainer.h"
#include "tests/unit/support/cases.h"
#include "tests/unit/support/diff_rig.h"
#include "tests/unit/support/random_schedule.h"
#include "tests/unit/support/thread_play.h"

#include <numeric>
#include <random>

namespace ovnitrace {
namespace {

using test::TempDir;
using test::TraceBuilder;

uint64_t sum_of(const Times &times) {
  return std::accumulate(times.begin(), times.end(), uint64_t(0),
                         [](uint64_t sum, const auto &part) { return sum + part.second; });
}

void expect_closed(const std::vector<CauseChange> &causes, const Change &whole) {
  int64_t delta = 0;
  uint64_t a = 0, b = 0;
  for (const CauseChange &one : causes) {
    a += one.change.a;
    b += one.change.b;
    delta += one.change.delta();
  }
  ASSERT_EQ(a, whole.a);
  ASSERT_EQ(b, whole.b);
  ASSERT_EQ(delta, whole.delta());
}

/// Measures a random trace. The path and the lives of all threads have no gap.
RunTimes random_run(unsigned seed, Names &names) {
  TempDir dir;
  TraceBuilder trace(dir.path());
  std::mt19937 random(seed);
  if (seed % 2)
    random_schedule(trace, random, seed % 3 ? 300 : 0);
  else
    test::ThreadPlay(seed).write(trace);
  trace.json(seed % 5 ? R"({"version": 1, "cpu_holders": true})" : R"({"version": 1})");
  trace.write();
  RunTimes run = test::measured(dir.path(), names);
  test::CollectingSink sink;
  const auto source = open_trace({{dir.path()}}, sink);
  const Explanation why = explain(*source, {});
  uint64_t life = 0;
  for (const ThreadTime &time : why.threads)
    life += time.life();
  EXPECT_EQ(sum_of(run.path), run.wall) << "seed " << seed;
  EXPECT_EQ(sum_of(run.life), life) << "seed " << seed;
  return run;
}

TEST(DiffProperty, TheSumClosesToTheNanosecond) {
  unsigned seed = 0;
  size_t uneven = 0;
  for (unsigned round = 0; round < test::cases(60); round++) { // of 5 traces in the mean
    ComparedRuns runs;
    const unsigned a = 1 + round % 4, b = 1 + (round / 2) % 5;
    for (unsigned n = 0; n < a; n++)
      runs.a.push_back(random_run(++seed, runs.names));
    for (unsigned n = 0; n < b; n++)
      runs.b.push_back(random_run(++seed, runs.names));
    const Comparison all = compare(runs);
    expect_closed(all.causes, all.wall);
    for (const GroupChange &group : all.groups)
      expect_closed(group.causes, group.life);
    uneven += all.wall.a * a != runs.a.front().wall;
  }
  EXPECT_GE(seed, 250u);
  EXPECT_GT(uneven, 10u);
}

TEST(DiffProperty, MeansCloseWhateverTheRemainders) {
  std::mt19937 random(4);
  for (unsigned round = 0; round < test::cases(150); round++) {
    ComparedRuns runs;
    for (std::vector<RunTimes> *side : {&runs.a, &runs.b})
      for (size_t n = 0; n < 1 + round % 11; n++) {
        RunTimes &run = side->emplace_back();
        run.conditions = {};
        for (const char *call : {"a", "b", "c", "d", "e", "f", "g"})
          if (random() % 3)
            run.path[{.group = "app", .kind = TimeCause::Kind::blocked, .call = call}] =
                random() % 1000;
        run.wall = sum_of(run.path);
        run.life = run.path;
        run.threads["app"] = 1;
      }
    const Comparison all = compare(runs);
    expect_closed(all.causes, all.wall);
    expect_closed(all.groups.at(0).causes, all.groups.at(0).life);
  }
}

/// A run of a program that is always the same: its times vary, some together.
RunTimes same_program(std::mt19937 &random) {
  std::lognormal_distribution<double> noise(0, 0.1);
  RunTimes run;
  const double machine = noise(random);
  for (uint64_t n = 0; n < 15; n++)
    for (const char *group : {"app", "worker-*"}) {
      const TimeCause cause{
          .group = group, .kind = TimeCause::Kind::blocked, .call = std::to_string(n)};
      run.life[cause] = uint64_t(1e6 * double(n + 1) * machine * noise(random));
      run.path[cause] = run.life[cause] / 2;
      run.threads[group] = 1;
    }
  run.wall = sum_of(run.path);
  return run;
}

TEST(DiffProperty, TheSameProgramGivesHardlyAVerdict) {
  std::mt19937 random(5);
  size_t walls = 0, any = 0;
  const unsigned pairs = test::cases(100);
  for (unsigned n = 0; n < pairs; n++) {
    ComparedRuns runs;
    for (int run = 0; run < 10; run++) {
      runs.a.push_back(same_program(random));
      runs.b.push_back(same_program(random));
    }
    const Comparison all = compare(runs);
    bool shown = all.wall.shown;
    walls += shown;
    for (const CauseChange &one : all.causes)
      shown |= one.change.shown;
    for (const GroupChange &group : all.groups)
      for (const CauseChange &one : group.causes)
        shown |= one.change.shown;
    any += shown;
  }
  EXPECT_LE(walls * 100, pairs * 5);
  EXPECT_LE(any * 100, pairs * 5) << "whatever it is about";
}

} // namespace
} // namespace ovnitrace
