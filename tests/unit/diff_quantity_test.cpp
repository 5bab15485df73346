// SPDX-License-Identifier: BSD-2-Clause
// The quantities and limits of `ovnitrace diff --gate`, from times made by hand.
#include "emulator/base/error.h"
#include "emulator/diff/gate.h"

#include <gtest/gtest.h>

#include <string>

namespace ovnitrace {
namespace {

using Kind = TimeCause::Kind;

class DiffQuantity : public ::testing::Test {
protected:
  /// Adds a run of each side, in which `app` runs so long.
  void add(uint64_t a, uint64_t b) {
    for (const auto &[side, ns] : {std::pair(&runs.a, a), std::pair(&runs.b, b)}) {
      RunTimes &run = side->emplace_back();
      run.of = app;
      run.wall = ns;
      run.path[{.group = app, .kind = Kind::running}] = ns;
      run.life = run.path;
      run.threads = {{app, 1}};
      run.waits[app].add(ns / 10);
    }
  }
  GateResult check(const std::string &gate) const { return check_gate(parse_gate(gate), runs); }

  ComparedRuns runs;
  const std::string app = runs.names.group("app", "app", {}),
                    server = runs.names.group("other", "server", {});
};

TEST_F(DiffQuantity, EachKindHasAWord) {
  const std::pair<const char *, uint64_t> words[] = {
      {"running", 1},        {"preempted", 20},     {"waiting", 320},       {"blocked", 4'000},
      {"throttled", 50'000}, {"spinning", 600'000}, {"unknown", 7'000'000},
  };
  const Kind kinds[] = {Kind::running,   Kind::preempted, Kind::waiting, Kind::blocked,
                        Kind::throttled, Kind::spinning,  Kind::unknown};
  RunTimes run;
  for (size_t n = 0; n < std::size(kinds); n++) {
    EXPECT_STREQ(kind_word(kinds[n]), words[n].first);
    // A preempted thread waits for a CPU, too.
    run.life[{.group = app, .kind = kinds[n]}] = kinds[n] == Kind::waiting ? 300 : words[n].second;
  }
  for (const auto &[word, ns] : words)
    EXPECT_EQ(parse_quantity(word).value().value(run, runs.names), ns) << word;
}

TEST_F(DiffQuantity, ALimitHasASignAndAUnit) {
  const auto most = [](const std::string &limit) { return parse_gate("wall<" + limit).most; };
  EXPECT_EQ(most("4ns"), 4);
  EXPECT_EQ(most("1.5us"), 1'500);
  EXPECT_EQ(most("+2ms"), 2'000'000);
  EXPECT_EQ(most("-3s"), -3'000'000'000.0);
  EXPECT_EQ(most("+5%"), 5);
  EXPECT_EQ(most("-0.5%"), -0.5);
  const auto limit = [](const std::string &limit) { return parse_gate("wall<" + limit).limit; };
  EXPECT_EQ(limit("4ns"), Gate::Limit::value);
  EXPECT_EQ(limit("+4ns"), Gate::Limit::change);
  EXPECT_EQ(limit("-4ns"), Gate::Limit::change);
  EXPECT_EQ(limit("-4%"), Gate::Limit::percent);
  EXPECT_EQ(parse_gate("wait.p99@a<b<+1s").quantity.group, "a<b") << "the last < is the limit's";
  EXPECT_EQ(parse_gate("wall<+5%").text, "wall<+5%");
}

TEST_F(DiffQuantity, AWrongGateIsExplained) {
  for (const std::string gate : {"wall", "wall<5%", "wall<5", "wall<5m", "walls<5s", "wall<"})
    try {
      parse_gate(gate);
      ADD_FAILURE() << gate;
    } catch (const UsageError &error) {
      EXPECT_EQ(error.what(),
                "--gate '" + gate +
                    "': a gate is QUANTITY[@GROUP]<LIMIT, such as 'wall<+5%', 'wait.p99<+10%', "
                    "'blocked.futex@worker-*<+2ms' or 'running<1.5s' (docs/diff.md#gates)");
    }
}

TEST_F(DiffQuantity, AGroupMayBeOnOneSideOnly) {
  add(100, 100);
  EXPECT_EQ(check("running@app<1us").b, 100);
  runs.b[0].threads[server] = 1;
  runs.b[0].life[{.group = server, .kind = Kind::running}] = 30;
  const GateResult result = check("running@server<31ns");
  EXPECT_EQ(result.a, 0);
  EXPECT_EQ(result.b, 30);
  EXPECT_TRUE(result.passed);
  try {
    check("running@reader<+5%");
    ADD_FAILURE();
  } catch (const UsageError &error) {
    EXPECT_STREQ(error.what(),
                 "--gate 'running@reader<+5%': no run has threads of the group 'reader'");
  }
}

TEST_F(DiffQuantity, WhatDoesNotChangePassesUnlessItMustFall) {
  add(100, 100);
  for (const char *gate : {"wall<+0%", "wall<+0ns", "wall<+1ns", "wall<101ns"})
    EXPECT_TRUE(check(gate).passed) << gate;
  for (const char *gate : {"wall<-1%", "wall<-1ns", "wall<100ns"}) {
    EXPECT_FALSE(check(gate).passed) << gate;
    EXPECT_EQ(check(gate).why, "") << gate;
  }
}

TEST_F(DiffQuantity, AChangeThatIsNotShownPassesALimitOfNoChange) {
  for (uint64_t n = 0; n < 6; n++)
    add(1000 + 100 * n, 1010 + 100 * n);
  const GateResult result = check("wall<+0%");
  EXPECT_TRUE(result.passed);
  EXPECT_EQ(result.why, "no difference is shown");
  EXPECT_EQ(result.a, 1250);
  EXPECT_EQ(result.b, 1260);
  EXPECT_EQ(check("wall<+1%").why, "") << "12.5 ns are allowed";
  EXPECT_TRUE(check("wall<+1%").passed);
  EXPECT_TRUE(check("wall<1261ns").passed);
  EXPECT_FALSE(check("wall<1260ns").passed) << "a limit of the value has no test";
}

/// Two runs against two cannot show a difference.
TEST_F(DiffQuantity, FewRunsFailWithoutATest) {
  add(1000, 1010);
  add(2000, 2010);
  EXPECT_FALSE(check("wall<+0%").passed);
  EXPECT_EQ(check("wall<+0%").why, "");
}

TEST_F(DiffQuantity, ALossOnEitherSideFailsWhatItConcerns) {
  for (const bool on_b : {false, true}) {
    runs.a.clear();
    runs.b.clear();
    add(100, 10);
    add(100, 10);
    RunTimes &run = (on_b ? runs.b : runs.a)[1];
    run.threads[server] = 1;
    const auto why = [&](const std::string &gate) { return check(gate + "<+50%").why; };
    run.lossy = {server};
    for (const char *gate : {"running", "running@server", "wait.max", "wait.max@server",
                             "path.running", "path.running@app"})
      EXPECT_EQ(why(gate), "events are missing") << gate << on_b;
    for (const char *gate : {"wall", "running@app", "wait.max@app"})
      EXPECT_EQ(why(gate), "") << gate << on_b;
    run.lossy = {app};
    EXPECT_EQ(why("wall"), "events are missing") << on_b;
    EXPECT_FALSE(check("wall<+50%").passed);
    EXPECT_EQ(check("wall<+50%").a, 100) << "the values are there";
  }
}

TEST_F(DiffQuantity, APercentileIsExact) {
  RunTimes run;
  for (int n = 0; n < 98; n++)
    run.waits[app].add(3);
  run.waits[app].add(7);
  run.waits[server].add(11);
  const auto value = [&](const char *quantity) {
    return parse_quantity(quantity).value().value(run, runs.names);
  };
  EXPECT_EQ(value("wait.p50"), 3u);
  EXPECT_EQ(value("wait.p99"), 7u);
  EXPECT_EQ(value("wait.max"), 11u);
  EXPECT_EQ(value("wait.max@app"), 7u);
}

} // namespace
} // namespace ovnitrace
