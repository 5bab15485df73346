// SPDX-License-Identifier: BSD-2-Clause
// What `ovnitrace diff` and `stat -r` print of a comparison: whole tables, whole JSON.
#include "emulator/diff/conditions.h"
#include "emulator/diff/repeat_report.h"
#include "emulator/diff/sentence.h"
#include "tests/unit/support/diff_rig.h"

namespace ovnitrace {
namespace {

using Kind = TimeCause::Kind;
using Json = nlohmann::json;

/// A comparison that is made by hand, of `app` and its workers.
class DiffReport : public ::testing::Test {
protected:
  DiffReport()
      : app(runs.names.group("app", "app", {})), worker(runs.names.group("app", "worker-1", {})) {
    runs.names.group("app", "worker-2", {});
    runs.names.fold("hog", {});
    runs.names.fold("writer", {});
    for (std::vector<RunTimes> *side : {&runs.a, &runs.b}) {
      side->emplace_back();
      side->back().of = app;
      side->back().wall = 100;
    }
  }
  CauseChange running(uint64_t a, uint64_t b) {
    return {{.group = app, .kind = Kind::running}, {a, b}};
  }
  CauseChange wait(Kind kind, uint64_t a, uint64_t b, const std::string &holder = "hog") {
    return {{.group = app, .kind = kind, .culprit = holder}, {a, b}};
  }
  CauseChange block(const std::string &call, uint64_t a, uint64_t b,
                    const std::string &waker = "writer", const std::string &at = "") {
    return {{.group = app, .kind = Kind::blocked, .call = call, .culprit = waker, .at = at},
            {a, b}};
  }
  /// Adds up the causes.
  void set(std::vector<CauseChange> causes) {
    all.wall = {};
    for (const CauseChange &one : causes) {
      all.wall.a += one.change.a;
      all.wall.b += one.change.b;
    }
    all.causes = std::move(causes);
  }
  std::string said(std::vector<CauseChange> causes) {
    set(std::move(causes));
    return sentence(all, runs.names);
  }
  std::string text(size_t top, const std::vector<GateResult> &gates = {}) {
    return diff_text({runs, all, gates}, top, 100);
  }

  ComparedRuns runs;
  std::string app, worker;
  Comparison all;
};

TEST_F(DiffReport, EachCauseHasItsWords) {
  EXPECT_EQ(said({running(10, 30)}), "B is 20 ns slower (+200.0 %): +20 ns running.");
  EXPECT_EQ(said({wait(Kind::preempted, 1, 31)}),
            "B is 30 ns slower (+3000.0 %): +30 ns preempted by hog.");
  EXPECT_EQ(said({wait(Kind::waiting, 4, 1)}),
            "B is 3 ns faster (-75.0 %): -3 ns waiting for a CPU behind hog.");
  EXPECT_EQ(said({wait(Kind::waiting, 4, 1, "idle")}),
            "B is 3 ns faster (-75.0 %): -3 ns waiting for an idle CPU.");
  EXPECT_EQ(said({wait(Kind::preempted, 4, 1, "not known")}),
            "B is 3 ns faster (-75.0 %): -3 ns preempted by an unknown holder.");
  EXPECT_EQ(said({block("read", 0, 7)}), "B is 7 ns slower: +7 ns in read woken by writer.");
  EXPECT_EQ(said({block("", 0, 7, "nobody yet")}),
            "B is 7 ns slower: +7 ns blocked, not woken yet.");
  EXPECT_EQ(said({block("read", 0, 7, "not known")}),
            "B is 7 ns slower: +7 ns in read woken by an unknown waker.");
  EXPECT_EQ(said({block("read", 0, 7, "")}), "B is 7 ns slower: +7 ns in read.");
  EXPECT_EQ(said({{{.group = app, .kind = Kind::throttled}, {5, 9}}}),
            "B is 4 ns slower (+80.0 %): +4 ns throttled.");
  EXPECT_EQ(said({{{.group = app, .kind = Kind::spinning}, {5, 9}}}),
            "B is 4 ns slower (+80.0 %): +4 ns spinning in sched_yield.");
  EXPECT_EQ(said({{{.group = app, .kind = Kind::unknown}, {5, 9}}}),
            "B is 4 ns slower (+80.0 %): +4 ns not known.");
}

TEST_F(DiffReport, CausesThatCancelOutAreStillNamed) {
  EXPECT_EQ(said({running(10, 30), block("read", 30, 10)}),
            "B is 0 slower (+0.0 %): +20 ns running, -20 ns in read woken by writer.");
}

TEST_F(DiffReport, APreemptionAndAWaitBehindOneHolderAreOnePart) {
  EXPECT_EQ(said({wait(Kind::preempted, 0, 100), wait(Kind::waiting, 0, 1)}),
            "B is 101 ns slower: +101 ns preempted or waiting for a CPU behind hog.");
  EXPECT_EQ(said({wait(Kind::preempted, 0, 9, "idle"), wait(Kind::waiting, 0, 90, "idle")}),
            "B is 99 ns slower: +99 ns waiting for an idle CPU.");
  EXPECT_EQ(said({wait(Kind::preempted, 0, 100), wait(Kind::waiting, 7, 7)}),
            "B is 100 ns slower (+1428.6 %): +100 ns preempted by hog.");
}

TEST_F(DiffReport, CausesOfSeveralThreadsAreOnePart) {
  const auto of_worker = [&](CauseChange one) {
    one.cause.group = worker;
    return one;
  };
  EXPECT_EQ(said({block("read", 1, 8), of_worker(block("read", 0, 9)),
                  of_worker(block("read", 3, 3, "writer", "main"))}),
            "B is 16 ns slower (+400.0 %): +16 ns in read woken by writer.");
  EXPECT_EQ(said({wait(Kind::preempted, 1, 51), of_worker(wait(Kind::preempted, 1, 41)),
                  wait(Kind::waiting, 10, 5), of_worker(wait(Kind::waiting, 7, 5))}),
            "B is 83 ns slower (+436.8 %): +83 ns preempted or waiting for a CPU behind hog.");
  EXPECT_EQ(said({wait(Kind::waiting, 0, 50), of_worker(wait(Kind::waiting, 0, 41))}),
            "B is 91 ns slower: +91 ns waiting for a CPU behind hog.");
}

TEST_F(DiffReport, ThreadsAreNamedWhereSeveralRan) {
  const CauseChange other = {{.group = worker, .kind = Kind::running}, {0, 6}};
  EXPECT_EQ(said({running(0, 5), other}),
            "B is 11 ns slower: +6 ns running in worker-*, +5 ns running in app.");
  EXPECT_EQ(said({running(5, 5), other}), "B is 6 ns slower (+120.0 %): +6 ns running.");
}

TEST_F(DiffReport, ASentenceNamesFourPartsAndSumsUpTheRest) {
  EXPECT_EQ(said({running(0, 20), block("a", 0, 19), block("b", 0, 18), block("c", 0, 17),
                  block("d", 0, 16), block("e", 0, 15)}),
            "B is 105 ns slower: +20 ns running, +19 ns in a woken by writer, +18 ns in b woken by "
            "writer, +17 ns in c woken by writer, +31 ns others.");
  EXPECT_EQ(said({running(0, 100), block("a", 0, 5), block("b", 0, 4)}),
            "B is 109 ns slower: +100 ns running, +5 ns in a woken by writer, +4 ns others.");
  EXPECT_EQ(said({running(0, 101), block("a", 0, 5)}),
            "B is 106 ns slower: +101 ns running, +5 ns others.");
}

TEST_F(DiffReport, CausesBeyondTheTopAreSummedUp) {
  set({running(10, 40),
       block("a", 1, 21),
       block("b", 2, 12),
       block("c", 3, 8),
       {{.group = worker, .kind = Kind::running}, {4, 6}}});
  all.groups = {{app, 1, 2, {11, 33}, {running(5, 25), block("x", 6, 8)}},
                {worker, 3, 3, {7, 8}, {}},
                {runs.names.group("app", "io", {}), 1, 1, {1, 1}, {}},
                {runs.names.group("app", "net", {}), 1, 1, {1, 1}, {}}};
  EXPECT_EQ(text(2),
            "B is 67 ns slower (+335.0 %): +30 ns running in app, +20 ns in a woken by "
            "writer, +10 ns in b woken\nby writer, +5 ns in c woken by writer, +2 ns others.\n"
            "One run each: no verdict.\n"
            "\n"
            "CRITICAL PATH  CAUSE                             A      B  CHANGE\n"
            "app            running                       10 ns  40 ns  +30 ns\n"
            "app            blocked in a woken by writer   1 ns  21 ns  +20 ns\n"
            "3 others                                      9 ns  26 ns  +17 ns\n"
            "all                                          20 ns  87 ns  +67 ns\n"
            "\n"
            "THREADS   TIME                                A      B  CHANGE\n"
            "app       1 thread, then 2                11 ns  33 ns  +22 ns\n"
            "            running                        5 ns  25 ns  +20 ns\n"
            "            blocked in x woken by writer   6 ns   8 ns   +2 ns\n"
            "worker-*  3 threads                        7 ns   8 ns   +1 ns\n"
            "2 other groups of threads changed less: --top 0 lists all.\n");
}

TEST_F(DiffReport, NamesAreWholeInANarrowTableWhichHasNoIntervals) {
  const std::string cause = "blocked in read woken by writer";
  set({block("read", 6'127'000, 14'130'000)});
  all.tested = true;
  all.wall.shift = all.causes[0].change.shift = Shift{8e6, {{7.9e6, 8.1e6}}, 0.001};
  all.wall.shown = true;
  const std::string narrow = diff_text({runs, all, {}}, 0, 80);
  EXPECT_NE(narrow.find("\napp            " + cause + "  6.127 ms  14.13 ms  +8.003 ms  ~\n"),
            std::string::npos)
      << narrow;
  EXPECT_EQ(narrow.find("FROM"), std::string::npos) << narrow;
  EXPECT_NE(diff_text({runs, all, {}}, 0, 100).find("  +7.900 ms  +8.100 ms  ~\n"),
            std::string::npos);
}

TEST_F(DiffReport, GatesAreTheLastLines) {
  set({running(10, 40)});
  const std::string lines = text(0, {{"wall<+5%", 1000, 1500, false, ""},
                                     {"wait.p99<+5%", 0, 1500, true, "no difference is shown"}});
  EXPECT_TRUE(lines.ends_with(
      "\nFAILED: wall<+5%: 1.000 us in A, 1.500 us in B (+50.0 %)\n"
      "passed: wait.p99<+5%: 0 in A, 1.500 us in B (+0.0 %); no difference is shown\n"))
      << lines;
}

TEST_F(DiffReport, JsonHasEachNumber) {
  set({block("read", 30, 10, "writer", "main"), running(10, 40)});
  all.wall.shift = Shift{5.4, {{-2.6, 7.5}}, 0.25};
  all.causes[1].change.shift = Shift{5.4, {{-1.5, 8.4}}, 0.125};
  all.causes[1].change.shown = true;
  all.groups = {{worker, 3, 2, {7, 9}, {running(5, 25)}}};
  all.only_a = {app};
  all.only_b = {worker};
  all.conditions = {{"kernel", "6.1", "6.2"}};
  runs.a[0].trace = "one";
  runs.a[0].lost = 3;
  runs.b[0].trace = "two";
  const std::vector<GateResult> gates = {{"wall<+5%", 40, 50, false, "events are missing"}};
  std::string out;
  write_diff_json({runs, all, gates}, [&](std::string_view part) { out += part; });
  const Json running_json = Json::parse(R"(
    {"cause": "running", "thread": "app", "process": "app", "call": null, "culprit": null,
     "at": null, "a_ns": 10, "b_ns": 40, "delta_ns": 30, "interval_ns": [-2, 8], "p": 0.125,
     "significant": true})");
  Json expected = Json::parse(R"(
    {"schema": 1, "a": [{"trace": "one", "wall_ns": 100, "lost": 3}],
     "b": [{"trace": "two", "wall_ns": 100, "lost": 0}],
     "conditions": [{"what": "kernel", "a": "6.1", "b": "6.2"}],
     "answer": "B seems 10 ns slower (+25.0 %), which can be chance: +30 ns running, -20 ns in read woken by writer.",
     "delta_ns": 10, "verdict": true,
     "wall": {"a_ns": 40, "b_ns": 50, "delta_ns": 10, "interval_ns": [-3, 8], "p": 0.25,
              "significant": false},
     "groups": [{"thread": "worker-*", "process": "app", "a_threads": 3, "b_threads": 2,
                 "a_ns": 7, "b_ns": 9, "delta_ns": 2, "interval_ns": null, "p": null,
                 "significant": false}],
     "only_in_a": ["app"], "only_in_b": ["worker-*"],
     "gates": [{"gate": "wall<+5%", "a_ns": 40.0, "b_ns": 50.0, "passed": false,
                "why": "events are missing"}]})");
  expected["causes"] = {Json::parse(R"(
    {"cause": "blocked", "thread": "app", "process": "app", "call": "read", "culprit": "writer",
     "at": "main", "a_ns": 30, "b_ns": 10, "delta_ns": -20, "interval_ns": null, "p": null,
     "significant": false})"),
                        running_json};
  Json in_group = running_json;
  in_group["a_ns"] = 5;
  in_group["b_ns"] = 25;
  in_group["delta_ns"] = 20;
  in_group["interval_ns"] = in_group["p"] = Json();
  in_group["significant"] = false;
  expected["groups"][0]["causes"] = {in_group};
  EXPECT_EQ(Json::parse(out), expected) << out;
}

TEST_F(DiffReport, AVerdictSaysHowManyRunsAndWhy) {
  runs.b.push_back(runs.b.front());
  EXPECT_EQ(verdict(all, runs), "1 against 2 runs: too few for a verdict; 5 against 5 are enough.");
  all.tested = true;
  EXPECT_EQ(verdict(all, runs), "1 against 2 runs: no verdict, because events are missing.");
  runs.b[1].wall = 301;
  all.wall.shift = Shift{5.6, {{-2.6, 7.4}}, 0.0123};
  EXPECT_EQ(verdict(all, runs), "1 against 2 runs: median 100 ns against 200 ns; shift +6 ns, 99 % "
                                "interval -3 ns to +7 ns, Mann-Whitney p = 0.012.");
}

TEST_F(DiffReport, SeveralRunsHaveAMedianAndASpread) {
  std::vector<RunTimes> side(3);
  const TimeCause runs_on = {.group = app, .kind = Kind::running},
                  reads = {.group = app,
                           .kind = Kind::blocked,
                           .call = "read",
                           .culprit = "writer"},
                  rare = {.group = app, .kind = Kind::throttled};
  const uint64_t walls[] = {1000, 1400, 1100};
  for (size_t n = 0; n < 3; n++) {
    side[n].of = app;
    side[n].wall = walls[n];
    side[n].lost = n;
    side[n].path = {{runs_on, 100 + n}, {reads, 500 - n}};
    side[n].life = {{runs_on, 200}, {reads, 7}};
    side[n].waits[app].add(20 + n);
  }
  for (RunTimes &run : side) {
    run.life[{.group = app, .kind = Kind::preempted, .culprit = "hog"}] = 8;
    run.life[{.group = app, .kind = Kind::waiting, .culprit = "hog"}] = 3;
  }
  side[2].path[rare] = 90;
  EXPECT_EQ(repeat_text(side, runs.names, 100),
            "3 RUNS       MEDIAN     LEAST      MOST  SPREAD\n"
            "wall       1.100 us  1.000 us  1.400 us   9.1 %\n"
            "running      200 ns    200 ns    200 ns   0.0 %\n"
            "waiting       11 ns     11 ns     11 ns   0.0 %\n"
            "preempted      8 ns      8 ns      8 ns   0.0 %\n"
            "blocked        7 ns      7 ns      7 ns   0.0 %\n"
            "throttled         0         0         0       -\n"
            "wait.p50      21 ns     20 ns     22 ns   4.8 %\n"
            "wait.p99      21 ns     20 ns     22 ns   4.8 %\n"
            "wait.max      21 ns     20 ns     22 ns   4.8 %\n"
            "\n"
            "CRITICAL PATH  CAUSE                            MEDIAN   LEAST    MOST  SPREAD\n"
            "app            blocked in read woken by writer  499 ns  498 ns  500 ns   0.2 %\n"
            "app            running                          101 ns  100 ns  102 ns   1.0 %\n");
  std::string out;
  write_repeat_json(side, runs.names, [&](std::string_view part) { out += part; });
  const Json json = Json::parse(out);
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["runs"],
            Json::parse(R"([{"wall_ns": 1000, "lost": 0}, {"wall_ns": 1400, "lost": 1},
                                          {"wall_ns": 1100, "lost": 2}])"));
  ASSERT_EQ(json["quantities"].size(), 9u);
  EXPECT_EQ(json["quantities"][0],
            Json::parse(R"({"quantity": "wall", "median_ns": 1100.0, "least_ns": 1000.0,
                            "most_ns": 1400.0, "deviation_ns": 100.0})"));
  ASSERT_EQ(json["causes"].size(), 3u);
  EXPECT_EQ(
      json["causes"][0],
      Json::parse(R"({"cause": "blocked", "thread": "app", "call": "read", "culprit": "writer",
                            "median_ns": 499.0, "least_ns": 498.0, "most_ns": 500.0,
                            "deviation_ns": 1.0})"));
  EXPECT_EQ(json["causes"][1]["call"], Json());
  EXPECT_EQ(json["causes"][1]["culprit"], Json());
  EXPECT_EQ(json["causes"][2]["most_ns"], 90.0) << "the median of this one is 0, too";
}

TEST_F(DiffReport, OfEqualMediansTheOneWithTheLongestTimeComesFirst) {
  std::vector<RunTimes> side(3);
  for (size_t n = 0; n < 3; n++)
    for (const auto &[call, most] : {std::pair("a", 60u), std::pair("b", 90u), std::pair("c", 70u)})
      side[n].path[{.group = app, .kind = Kind::blocked, .call = call}] = n == 1 ? most : 50;
  const std::string lines = repeat_text(side, runs.names, 100);
  EXPECT_TRUE(lines.ends_with("app            blocked in b   50 ns  50 ns  90 ns   0.0 %\n"
                              "app            blocked in c   50 ns  50 ns  70 ns   0.0 %\n"
                              "app            blocked in a   50 ns  50 ns  60 ns   0.0 %\n"))
      << lines;
}

TEST_F(DiffReport, TheTableOfSeveralRunsHasTenCauses) {
  std::vector<RunTimes> side(1);
  for (char call = 'a'; call < 'a' + 11; call++)
    side[0].path[{.group = app, .kind = Kind::blocked, .call = {call}}] = uint8_t(call);
  const std::string lines = repeat_text(side, runs.names, 100);
  EXPECT_NE(lines.find("in b "), lines.npos) << lines;
  EXPECT_EQ(lines.find("in a "), lines.npos) << "the eleventh";
}

/// The conditions of a trace, by their names.
std::map<std::string, std::string> conditions(const TraceInfo &info) {
  std::map<std::string, std::string> found;
  for (const Condition &one : conditions_of(info))
    found[one.what] = one.value;
  return found;
}

TEST(DiffConditions, ConditionsThatATraceLacksAreNotKnown) {
  const std::map<std::string, std::string> none = {{"host", "not known"},
                                                   {"kernel", "not known"},
                                                   {"architecture", "not known"},
                                                   {"CPUs", "not known"},
                                                   {"command", "not known"},
                                                   {"user", "not known"},
                                                   {"recorded threads", "of the program"},
                                                   {"families of events", "not known"},
                                                   {"stacks", "none"},
                                                   {"buffer", "not known"},
                                                   {"regions", "none"},
                                                   {"ovnitrace", "not known"}};
  EXPECT_EQ(conditions({}), none);
}

TEST(DiffConditions, ComeFromTheTrace) {
  TraceInfo info;
  info.host = "h\x1b";
  info.kernel = "6.1";
  info.machine = "x86_64";
  info.cpus = 1200;
  info.command = {"make", "-j"};
  info.user = "me";
  info.families = "sched";
  info.stacks = "user";
  info.buffer = "all";
  info.tracer = "0.3";
  info.chains.resize(2);
  info.attached_pids = {7};
  std::map<std::string, std::string> expected = {
      {"host", "h?"},
      {"kernel", "6.1"},
      {"architecture", "x86_64"},
      {"CPUs", "1,200"},
      {"command", "make -j"},
      {"user", "me"},
      {"recorded threads", "of running processes, without children"},
      {"families of events", "sched"},
      {"stacks", "user"},
      {"buffer", "all"},
      {"regions", "2"},
      {"ovnitrace", "0.3"}};
  info.with_children = false;
  EXPECT_EQ(conditions(info), expected);
  info.with_children = true;
  EXPECT_EQ(conditions(info)["recorded threads"], "of running processes");
  info.all_threads = true;
  EXPECT_EQ(conditions(info)["recorded threads"], "all of the machine");
  info.topology.resize(3);
  EXPECT_EQ(conditions(info)["CPUs"], "3");
}

/// The differences between two runs, as lines.
std::string differences_of(const RunTimes &a, const RunTimes &b) {
  std::string lines;
  for (const Difference &one : differences({a}, {b}, {}))
    lines += one.what + ": " + one.a + " | " + one.b + "\n";
  return lines;
}

TEST(DiffConditions, DisturbancesAboveALimitAreNamed) {
  RunTimes a, b;
  a.khz = 1'000'000;
  b.khz = 1'029'000;
  a.stolen = 0.01;
  EXPECT_EQ(differences_of(a, b), "");
  b.khz = 1'040'000;
  EXPECT_EQ(differences_of(a, b), "mean frequency: 1.00 GHz | 1.04 GHz\n");
  EXPECT_EQ(differences_of(b, a), "mean frequency: 1.04 GHz | 1.00 GHz\n");
  b.khz = 0; // not recorded
  EXPECT_EQ(differences_of(a, b), "");
  EXPECT_EQ(differences_of(b, a), "");
  b.stolen = 0.1234;
  EXPECT_EQ(differences_of(a, b), "time stolen from the CPUs: 1.0 % | 12.3 %\n");
  a.stolen = b.stolen = 0;
  a.lost = 1234;
  EXPECT_EQ(differences_of(a, b), "lost events: 1,234 | 0\n");
  EXPECT_EQ(differences_of(b, a), "lost events: 0 | 1,234\n");
  a.lost = 0;
  a.of = "x\nx";
  b.of = "y\ny";
  EXPECT_EQ(differences_of(a, b), "thread of the critical path: x | y\n");
}

} // namespace
} // namespace ovnitrace
