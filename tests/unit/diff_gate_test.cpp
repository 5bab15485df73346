// SPDX-License-Identifier: BSD-2-Clause
// `ovnitrace diff --gate`: its grammar, what it measures, and when it fails.
#include "emulator/base/error.h"
#include "tests/unit/support/diff_rig.h"
#include "tests/unit/support/run_command.h"

#include <utility>

namespace ovnitrace {
namespace {

using Kind = TimeCause::Kind;

/// A run of `app` with a worker: the numbers are ns.
RunTimes run_of(Names &names, uint64_t running, uint64_t blocked, uint64_t wait) {
  RunTimes run;
  const std::string app = names.group("app", "app", {}),
                    worker = names.group("app", "worker-1", {});
  names.group("app", "worker-2", {});
  run.of = app;
  run.path[{.group = app, .kind = Kind::running}] = running;
  run.path[{.group = app, .kind = Kind::blocked, .call = "futex", .culprit = "x"}] = blocked;
  run.wall = running + blocked;
  run.life = run.path;
  run.life[{.group = worker, .kind = Kind::running}] = 2 * running;
  run.life[{.group = worker, .kind = Kind::preempted, .culprit = "x"}] = 40;
  run.life[{.group = worker, .kind = Kind::blocked, .call = "read", .culprit = "x"}] = 5;
  run.threads = {{app, 1}, {worker, 2}};
  run.waits[worker].add(wait);
  run.waits[app].add(wait / 10);
  return run;
}

class DiffGate : public test::DiffRig {
protected:
  DiffGate() {
    runs.a.push_back(run_of(runs.names, 1000, 300, 20));
    runs.b.push_back(run_of(runs.names, 1100, 300, 30));
  }
  GateResult check(const std::string &gate) { return check_gate(parse_gate(gate), runs); }
};

TEST_F(DiffGate, EachWordSelectsItsQuantity) {
  const std::pair<const char *, double> cases[] = {
      {"wall<+1%", 1300},           {"running<+1%", 3000},
      {"running@app<+1%", 1000},    {"running@worker-*<+1%", 2000},
      {"preempted<+1%", 40},        {"waiting<+1%", 40},
      {"blocked<+1%", 305},         {"blocked.futex<+1%", 300},
      {"blocked.read<+1%", 5},      {"throttled<+1%", 0},
      {"path.running<+1%", 1000},   {"path.blocked<+1%", 300},
      {"path.blocked.read<+1%", 0}, {"path.preempted<+1%", 0},
      {"wait.max<+1%", 20},         {"wait.p99<+1%", 20},
      {"wait.p50<+1%", 2},          {"wait.p50@worker-*<+1%", 20},
  };
  for (const auto &[gate, value] : cases)
    EXPECT_EQ(check(gate).a, value) << gate;
}

TEST_F(DiffGate, ALimitIsRelativeOrAbsolute) {
  for (const char *gate : {"wall<+8%", "wall<+101ns", "wall<1401ns", "wall<0.002ms", "wall<1s",
                           "blocked<+0%", "wait.max<+51%", "throttled<+5%"})
    EXPECT_TRUE(check(gate).passed) << gate;
  for (const char *gate : {"wall<+7%", "wall<+100ns", "wall<1400ns", "wall<1.4us", "wall<-1%",
                           "wait.max<+50%", "running<-5ns"})
    EXPECT_FALSE(check(gate).passed) << gate;
}

TEST_F(DiffGate, AWrongGateIsRefused) {
  for (const char *gate :
       {"", "wall", "<+5%", "wall<", "wall<5%", "wall<+5", "wall<+5 %", "wall>+5%", "wall@app<+5%",
        "wait<+5%", "wait.p98<+5%", "running@<+5%", "speed<+5%", "path.<+5%", "blocked.<+5%",
        "wall<+5%5", "wall<x%", "wall<--5%"})
    EXPECT_THROW(parse_gate(gate), Error) << gate;
  EXPECT_THROW(check("running@reader<+5%"), Error) << "no run has it";
}

TEST_F(DiffGate, AChangeThatIsNotShownPassesWithManyRuns) {
  runs.a.clear();
  runs.b.clear();
  for (uint64_t n = 0; n < 6; n++) {
    runs.a.push_back(run_of(runs.names, 1000 + 100 * n, 300, 20));
    runs.b.push_back(run_of(runs.names, 1050 + 110 * n, 300, 200));
  }
  const GateResult noise = check("wall<+1%");
  EXPECT_TRUE(noise.passed);
  EXPECT_EQ(noise.why, "no difference is shown");
  EXPECT_FALSE(check("wall<-1%").passed) << "an improvement must be there";
  EXPECT_FALSE(check("wait.max<+1%").passed);
}

TEST_F(DiffGate, AGateAboutLostEventsFails) {
  runs.b.front().lossy.insert(runs.names.group("app", "worker-1", {}));
  EXPECT_FALSE(check("running<+50%").passed);
  EXPECT_EQ(check("running<+50%").why, "events are missing");
  EXPECT_FALSE(check("path.running<+50%").passed) << "the path may lead through the worker";
  EXPECT_TRUE(check("wall<+50%").passed);
  EXPECT_TRUE(check("running@app<+50%").passed);
}

TEST_F(DiffGate, OneOfThePathKnowsTheGroupsOfThePath) {
  const std::string server = runs.names.group("other", "server", {});
  for (RunTimes *run : {&runs.a.front(), &runs.b.front()})
    run->path[{.group = server, .kind = Kind::running}] = 50;
  EXPECT_EQ(check("path.running@server<+5%").a, 50);
  EXPECT_THROW(check("running@server<+5%"), Error) << "it is not compared";
}

TEST_F(DiffGate, TheWallTimeComesFromTheRunsOwnPath) {
  runs.b.push_back(run_of(runs.names, 1100, 300, 30));
  runs.b.back().of = runs.names.group("app", "worker-1", {});
  runs.b.back().lossy.insert(runs.b.back().of);
  EXPECT_FALSE(check("wall<+50%").passed);
}

/// The command itself.
class DiffCommand : public test::DiffRig {
protected:
  DiffCommand() {
    const auto app = [](uint64_t end) {
      return [=](test::TraceBuilder &builder) {
        builder.cpu(0).at(0).start().id(1, 11, 11, "app").dispatch(1).at(end).end(1, 11).stop();
      };
    };
    a = trace(app(1000));
    b = trace(app(1500));
  }
  int run(std::vector<std::string> arguments, const std::vector<std::string> &after = {}) {
    arguments.insert(arguments.begin(), "diff");
    const test::Said said = test::run(std::move(arguments), after);
    out = said.out;
    err = said.err;
    return said.status;
  }
  std::string a, b, out, err;
};

TEST_F(DiffCommand, TheExitStatusIs4IfAGateFails) {
  EXPECT_EQ(run({a, b}), 0) << err;
  EXPECT_EQ(out.find("B is 500 ns slower (+50.0 %): +500 ns running.\nOne run each: no verdict.\n"),
            0u)
      << out;
  EXPECT_EQ(run({a, b, "--gate", "wall<+60%"}), 0) << err;
  EXPECT_NE(out.find("\npassed: wall<+60%: 1.000 us in A, 1.500 us in B (+50.0 %)\n"),
            std::string::npos)
      << out;
  EXPECT_EQ(run({a, b, "--gate", "wall<+60%", "--gate", "running<+2%"}), 4) << err;
  EXPECT_NE(out.find("\nFAILED: running<+2%: "), std::string::npos) << out;
  EXPECT_EQ(run({a, b, "--json", "--gate", "running<+2%"}), 4) << err;
  EXPECT_EQ(nlohmann::json::parse(out)["gates"][0]["passed"], false);
}

TEST_F(DiffCommand, SeveralRunsAreDividedByDashes) {
  EXPECT_EQ(run({a, a, a, "--json"}, {b, b}), 0) << err;
  EXPECT_EQ(nlohmann::json::parse(out)["a"].size(), 3u);
  EXPECT_EQ(nlohmann::json::parse(out)["b"].size(), 2u);
  EXPECT_EQ(run({a, "--json"}, {b}), 0) << err;
}

TEST_F(DiffCommand, AWrongCommandLineIsRefused) {
  EXPECT_EQ(run({a}), 2);
  EXPECT_NE(err.find("A1 A2 A3 -- B1 B2 B3"), std::string::npos) << err;
  EXPECT_EQ(run({a, a, b}), 2);
  EXPECT_EQ(run({a, b, "--gate", "wall<5%"}), 2);
  EXPECT_EQ(run({a, b, "--gate", "running@no<+5%"}), 2);
  EXPECT_EQ(run({a, b, "--match", "x"}), 2);
  EXPECT_EQ(run({a, b, "--to", "folded", "--json"}), 2);
  EXPECT_EQ(run({a, b, "--to", "csv"}), 2);
  EXPECT_EQ(run({a, dir / "missing"}), 1);
  EXPECT_EQ(run({a, b, "--section", "9"}), 1) << "neither has it";
}

TEST_F(DiffCommand, ThreadsAreChosenByName) {
  EXPECT_EQ(run({a, b, "--comm", "app", "--top", "0", "--match", "x=y"}), 0) << err;
  EXPECT_EQ(run({a, b, "--comm", "other"}), 1);
  EXPECT_NE(err.find("the trace has no thread with --comm "), std::string::npos) << err;
  EXPECT_EQ(run({a, b, "--to", "folded"}), 0) << err;
  EXPECT_EQ(out, "") << "it never blocks";
}

} // namespace
} // namespace ovnitrace
