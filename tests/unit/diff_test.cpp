// SPDX-License-Identifier: BSD-2-Clause
// `ovnitrace diff`: which threads are matched, what the answer says, and when there is no verdict.
#include "emulator/base/error.h"
#include "emulator/diff/folded_diff.h"
#include "emulator/diff/sentence.h"
#include "tests/unit/support/diff_rig.h"
#include "tests/unit/support/why_rig.h"

#include <ovnitrace/control.h>

namespace ovnitrace {
namespace {

using test::kMs;
using test::kNanosleep;
using test::TraceBuilder;

/// What happens to `app`: it runs, is preempted by another thread, runs, sleeps, runs.
struct Plan {
  uint64_t run = 10 * kMs, held = 0, slept = 5 * kMs;
  uint32_t hog = 99;
  std::string name = "kworker/1:2";
  bool losses = false;
};

void write(TraceBuilder &trace, const Plan &plan) {
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "app").id(2, plan.hog, plan.hog, plan.name);
  uint64_t now = plan.run;
  cpu.dispatch(1).at(now);
  if (plan.held) {
    cpu.epilogue(1, plan.hog).dispatch(2);
    now += plan.held;
    cpu.at(now).sleep(2, 11).dispatch(1);
    now += plan.run;
    cpu.at(now);
  }
  cpu.record(uint16_t(FTrace_EVT_task_sleep | FTRACE_CALL_CODE(kNanosleep)), 1,
             FTRACE_CALL_PAR2(kNanosleep) | FTRACE_OFFCPU_SLEEP << FTRACE_REASON_SHIFT);
  now += plan.slept;
  cpu.at(now).activate(1, 0, FTRACE_WAKER_HARDIRQ).dispatch(1);
  if (plan.losses)
    cpu.at(now + kMs / 4).blackout_start().at(now + kMs / 2).blackout_end(7).dispatch(1);
  cpu.at(now + kMs).end(1, 11).at(now + 2 * kMs).stop();
}

class Diff : public test::DiffRig {
protected:
  std::string app(const Plan &plan, const std::string &more = "") {
    return trace([&](TraceBuilder &builder) { write(builder, plan); }, more);
  }
};

TEST_F(Diff, TheFirstLineNamesTheCausesTheLargestFirst) {
  add_a(app({.run = 20 * kMs}));
  add_b(app({.run = 11 * kMs, .held = 27 * kMs, .slept = 14 * kMs, .hog = 98}));
  EXPECT_EQ(sentence(compare(runs), runs.names),
            "B is 38.00 ms slower (+146.2 %): +27.00 ms preempted by kworker/1:2, +9.000 ms in "
            "nanosleep woken by a timer, +2.000 ms running.");
  const nlohmann::json all = json();
  EXPECT_EQ(all["schema"], 1);
  EXPECT_EQ(all["delta_ns"], 38 * kMs);
  EXPECT_EQ(all["verdict"], false);
  ASSERT_EQ(all["causes"].size(), 3u);
  EXPECT_EQ(all["causes"][0]["cause"], "preempted");
  EXPECT_EQ(all["causes"][0]["culprit"], "kworker/1:2");
  EXPECT_EQ(all["causes"][0]["thread"], "app");
  EXPECT_EQ(all["causes"][0]["a_ns"], 0);
  EXPECT_EQ(all["causes"][0]["b_ns"], 27 * kMs);
  EXPECT_EQ(all["causes"][0]["delta_ns"], 27 * kMs);
  EXPECT_EQ(all["causes"][0]["significant"], false);
  EXPECT_TRUE(all["causes"][0]["interval_ns"].is_null());
  EXPECT_EQ(all["causes"][1]["call"], "nanosleep");
  EXPECT_EQ(all["causes"][2]["cause"], "running");
  ASSERT_EQ(all["groups"].size(), 1u) << "the kernel worker is not of the program";
  EXPECT_EQ(all["groups"][0]["thread"], "app");
  EXPECT_EQ(all["groups"][0]["delta_ns"], 38 * kMs);
  EXPECT_NE(text().find("One run each: no verdict."), std::string::npos) << text();
}

TEST_F(Diff, WaitsAreDividedByPreemptionThrottlingAndWakeup) {
  add_a(trace([](TraceBuilder &trace) {
    auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "app").id(2, 22, 22, "hog").dispatch(1);
    cpu.at(1 * kMs).epilogue(1, 22).dispatch(2).at(3 * kMs).sleep(2, 11).dispatch(1);
    cpu.at(4 * kMs).epilogue(1, 0, FTRACE_OFFCPU_THROTTLED).at(7 * kMs).dispatch(1);
    cpu.at(8 * kMs).sleep(1).at(9 * kMs).activate(1, 0, FTRACE_WAKER_HARDIRQ);
    cpu.at(13 * kMs).dispatch(1).at(14 * kMs).end(1, 11).at(15 * kMs).stop();
  }));
  using Kind = TimeCause::Kind;
  std::map<Kind, std::pair<std::string, uint64_t>> waits;
  for (const auto &[cause, ns] : runs.a[0].life)
    if (cause.kind != Kind::running && cause.kind != Kind::blocked && cause.kind != Kind::unknown)
      waits[cause.kind] = {cause.culprit, ns};
  EXPECT_EQ(waits,
            (std::map<Kind, std::pair<std::string, uint64_t>>{{Kind::preempted, {"hog", 2 * kMs}},
                                                              {Kind::throttled, {"", 3 * kMs}},
                                                              {Kind::waiting, {"idle", 4 * kMs}}}));
}

TEST_F(Diff, AThreadThatSpinsIsNotBlocked) {
  add_a(trace([](TraceBuilder &trace) {
    auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "app").id(2, 22, 22, "hog").dispatch(1);
    for (uint64_t at = 1 * kMs; at < 10 * kMs; at += 2 * kMs) {
      cpu.at(at).epilogue(1, 22, FTRACE_OFFCPU_YIELDED).dispatch(2);
      cpu.at(at + 2 * kMs - 1000).epilogue(2, 11).dispatch(1);
    }
    cpu.at(11 * kMs).end(1, 11).stop();
  }));
  const TimeCause spins = {.group = runs.a[0].of, .kind = TimeCause::Kind::spinning};
  EXPECT_EQ(cause_text(spins, runs.names), "spinning in sched_yield");
  EXPECT_EQ(runs.a[0].path[spins], 10 * kMs - 1000);
  EXPECT_EQ(runs.a[0].life[spins], 8 * kMs - 4000) << "without the first wait, and the runs";
}

TEST_F(Diff, TheTimeUntilTheNextPeriodIsNoWaitForACpu) {
  for (const uint32_t reason : {FTRACE_OFFCPU_NEXT_PERIOD, FTRACE_OFFCPU_EXHAUSTED,
                                FTRACE_OFFCPU_THROTTLED, FTRACE_OFFCPU_PREEMPTED}) {
    add_a(trace([&](TraceBuilder &trace) {
      auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "app").dispatch(1);
      cpu.at(1 * kMs).epilogue(1, 22, reason).at(9 * kMs).dispatch(1);
      cpu.at(11 * kMs).end(1, 11).stop();
    }));
    EXPECT_EQ(runs.a.back().waits[runs.a.back().of].count(),
              reason == FTRACE_OFFCPU_PREEMPTED ? 1u : 0u)
        << reason;
  }
}

TEST_F(Diff, TheFrequencyOfARunIsTheMeanOfAllCpus) {
  add_a(trace([](TraceBuilder &trace) {
    auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "app").dispatch(1);
    cpu.record(FTrace_EXT_frequency, 0, 1'000'000).at(4 * kMs).stop();
    trace.cpu(1).at(3 * kMs).start().record(FTrace_EXT_frequency, 1, 3'000'000).at(4 * kMs).stop();
  }));
  EXPECT_EQ(runs.a[0].khz, 1'400'000u); // 4 ms of 1 GHz and 1 ms of 3 GHz
}

TEST_F(Diff, ALineOfEachTableIsAsWideAsTheTerminal) {
  add_a(app({.run = 20 * kMs}));
  add_b(app({.held = 27 * kMs}));
  const std::string lines = text();
  EXPECT_EQ(lines.find("B is 27.00 ms"), 0u) << lines;
  for (const char *part : {"CRITICAL PATH", "\nall ", "preempted by kworker/1:2", "THREADS",
                           "blocked in nanosleep woken by a timer"})
    EXPECT_NE(lines.find(part), std::string::npos) << part << " in\n" << lines;
}

TEST_F(Diff, NothingChangedIsSaidSo) {
  add_a(app({}));
  add_b(app({}));
  EXPECT_EQ(sentence(compare(runs), runs.names), "B takes as long as A.");
}

TEST_F(Diff, CapturesOfAPartOfARunAreNotFasterNorSlower) {
  const std::string attached = R"(, "attached_pids": [11])";
  add_a(app({.run = 20 * kMs}, attached));
  add_b(app({}, attached));
  EXPECT_EQ(sentence(compare(runs), runs.names),
            "Captures of a part of a run (26.00 ms in A, 16.00 ms in B) show no run time. On the "
            "critical path: -10.00 ms running.");
}

TEST_F(Diff, AFasterRunIsSaidSo) {
  add_a(app({.run = 20 * kMs}));
  add_b(app({}));
  EXPECT_EQ(sentence(compare(runs), runs.names).find("B is 10.00 ms faster (-38.5 %): -10.00 ms"),
            0u);
}

/// Two workers with other tids and numbers in each run, and one that only one run has.
std::function<void(TraceBuilder &)> workers(uint32_t first, const std::string &name,
                                            const std::string &extra) {
  return [=](TraceBuilder &trace) {
    auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "app");
    cpu.id(2, first, 11, name + std::to_string(first)).id(3, first + 1, 11, name + "x");
    cpu.id(4, first + 2, 11, extra);
    for (uint16_t context = 1; context <= 4; context++)
      cpu.dispatch(context).at(context * kMs).end(context, 11);
    cpu.stop();
  };
}

TEST_F(Diff, ThreadsAreMatchedByNameWithFoldedDigits) {
  add_a(trace(workers(20, "worker-", "reader")));
  add_b(trace(workers(70, "worker-", "writer")));
  const Comparison all = compare(runs);
  std::vector<std::string> groups;
  for (const GroupChange &group : all.groups)
    groups.push_back(runs.names.group_text(group.group));
  std::sort(groups.begin(), groups.end());
  EXPECT_EQ(groups, (std::vector<std::string>{"app", "worker-*", "worker-x"}));
  ASSERT_EQ(all.only_a.size(), 1u);
  EXPECT_EQ(runs.names.group_text(all.only_a[0]), "reader");
  EXPECT_EQ(runs.names.group_text(all.only_b.at(0)), "writer");
  EXPECT_NE(text().find("Only in A: reader\nOnly in B: writer\n--match OLD=NEW matches "),
            std::string::npos)
      << text();
}

TEST_F(Diff, MatchMapsARename) {
  match = {parse_rename("job-1=worker-2"), parse_rename("job-x=worker-x"),
           parse_rename("reader=writer")};
  add_a(trace(workers(20, "job-", "reader")));
  add_b(trace(workers(70, "worker-", "writer")));
  const Comparison all = compare(runs);
  EXPECT_EQ(all.groups.size(), 4u);
  EXPECT_TRUE(all.only_a.empty());
  EXPECT_TRUE(all.only_b.empty());
  for (const char *wrong : {"a", "=b", "a=", "="})
    EXPECT_THROW(parse_rename(wrong), Error) << wrong;
}

TEST_F(Diff, AGroupIsThreadsOfOneNameInProcessesOfOneName) {
  const auto processes = [&](TraceBuilder &trace) {
    auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "app").id(2, 12, 11, "io");
    cpu.id(3, 30, 30, "tool").parent(3, 11).id(4, 31, 30, "io").parent(4, 30);
    for (uint16_t context = 1; context <= 4; context++)
      cpu.dispatch(context).at(context * kMs).sleep(context);
    cpu.stop();
  };
  add_a(trace(processes));
  add_b(trace(processes));
  std::vector<std::string> groups;
  for (const GroupChange &group : compare(runs).groups)
    groups.push_back(runs.names.group_text(group.group));
  std::sort(groups.begin(), groups.end());
  EXPECT_EQ(groups, (std::vector<std::string>{"app", "io of app", "io of tool", "tool"}));
}

TEST_F(Diff, DifferentConditionsComeFirst) {
  add_a(app({}, R"(, "kernel": "6.1.0", "options": {"families": "sched,user"})"));
  add_b(app({}, R"(, "kernel": "6.18.0", "options": {"families": "sched,user,irq"})"));
  const std::string lines = text();
  EXPECT_EQ(lines.find("The conditions differ:\n"
                       "  kernel: 6.1.0 in A, 6.18.0 in B\n"
                       "  families of events: sched,user in A, sched,user,irq in B\n\nB "),
            0u)
      << lines;
  EXPECT_EQ(json()["conditions"][0]["what"], "kernel");
}

TEST_F(Diff, DifferencesWithinOneSideAreConditions) {
  add_a(app({}, R"(, "kernel": "6.1.0")"));
  add_a(app({}, R"(, "kernel": "6.18.0")"));
  add_b(app({}, R"(, "kernel": "6.18.0")"));
  EXPECT_EQ(json()["conditions"][0]["a"], "6.1.0, 6.18.0");
}

TEST_F(Diff, SeveralRunsGiveAVerdict) {
  for (uint64_t n = 0; n < 6; n++) {
    add_a(app({.run = 20 * kMs + n * 1000, .hog = uint32_t(50 + n)}));
    add_b(app({.run = 20 * kMs + n * 1000 + 500, .slept = 15 * kMs + n, .hog = uint32_t(70 + n)}));
  }
  const Comparison all = compare(runs);
  EXPECT_TRUE(all.tested);
  EXPECT_TRUE(all.wall.shown);
  EXPECT_EQ(all.causes.front().cause.call, "nanosleep");
  EXPECT_TRUE(all.causes.front().change.shown);
  EXPECT_FALSE(all.causes.back().change.shown) << "500 ns of running";
  EXPECT_TRUE(all.groups.at(0).life.shown);
  const std::string lines = text();
  EXPECT_EQ(lines.find("B is 10.00 ms slower"), 0u) << lines;
  EXPECT_NE(lines.find("6 against 6 runs: median 26.00 ms against 36.00 ms; shift +10.00 ms, 99 % "
                       "interval +9.997 ms to\n+10.00 ms"),
            std::string::npos)
      << lines;
  EXPECT_NE(lines.find(" ~\n"), std::string::npos) << lines;
  EXPECT_EQ(json()["verdict"], true);
}

TEST_F(Diff, ChangesThatAreNotShownHaveATilde) {
  for (uint64_t n = 0; n < 6; n++) {
    add_a(app({.run = 20 * kMs + n * kMs}));
    add_b(app({.run = 20 * kMs + (5 - n) * kMs + 1000}));
  }
  EXPECT_EQ(text().find("B seems 1.000 us slower (+0.0 %), which can be chance: "), 0u) << text();
}

TEST_F(Diff, TooFewRunsGiveNoVerdict) {
  for (uint64_t n = 0; n < 3; n++) {
    add_a(app({}));
    add_b(app({.run = 50 * kMs}));
  }
  EXPECT_FALSE(compare(runs).tested);
  EXPECT_NE(text().find("3 against 3 runs: too few for a verdict"), std::string::npos);
  EXPECT_EQ(json()["verdict"], false);
}

TEST_F(Diff, LossesTakeTheVerdict) {
  for (uint64_t n = 0; n < 6; n++) {
    add_a(app({}));
    add_b(app({.run = 50 * kMs, .losses = n == 3}));
  }
  const Comparison all = compare(runs);
  EXPECT_FALSE(all.wall.shift.has_value());
  EXPECT_FALSE(all.wall.shown);
  for (const CauseChange &one : all.causes)
    EXPECT_FALSE(one.change.shown);
  EXPECT_EQ(json()["verdict"], false);
  EXPECT_EQ(text().find("The conditions differ:\n  lost events: 0 in A, 7 in B\n"), 0u) << text();
  EXPECT_NE(text().find("no verdict, because events are missing"), std::string::npos);
}

TEST_F(Diff, ThePathStartsWhenTheProgramIsLetRun) {
  const auto gated = [&](uint64_t gate) {
    return trace([=](TraceBuilder &builder) {
      auto &cpu = builder.cpu(0).at(0).start().id(1, 11, 11, "app", 1).at(1).create(1, 11);
      cpu.activate_new(1, 1).dispatch(1).at(gate).record(FTrace_EXT_exec, 1);
      cpu.at(gate + 5 * kMs).end(1, 11).stop();
    });
  };
  add_a(gated(3 * kMs));
  add_b(gated(90 * kMs));
  EXPECT_EQ(runs.a[0].wall, 5 * kMs);
  EXPECT_EQ(runs.b[0].wall, 5 * kMs);
}

TEST_F(Diff, ASectionIsComparedAlone) {
  const auto section = [&](uint64_t length) {
    return trace([=](TraceBuilder &builder) {
      auto &cpu = builder.cpu(0).at(3 * kMs).start().id(1, 11, 11, "app").dispatch(1);
      cpu.at(10 * kMs).record(FTrace_EVT_user_event_13, 1, 7).at(10 * kMs + length);
      cpu.record(FTrace_EVT_user_event_14, 1, 7).at(100 * kMs).end(1, 11).stop();
    });
  };
  query.section = 7;
  add_a(section(4 * kMs));
  add_b(section(9 * kMs));
  const nlohmann::json all = json();
  EXPECT_EQ(all["delta_ns"], 5 * kMs);
  EXPECT_EQ(all["groups"][0]["a_ns"], 4 * kMs) << "its threads, too, only in that time";
}

TEST_F(Diff, TimeOutsideTheRegionsDoesNotCount) {
  const auto regions = [&](uint64_t inside, uint64_t outside) {
    return trace(
        [=](TraceBuilder &builder) {
          auto &cpu = builder.cpu(0).at(0).start().id(1, 11, 11, "app");
          for (uint64_t from = outside; from < 3 * (inside + outside); from += inside + outside) {
            cpu.at(from).record(FTrace_EXT_region, 1, CONTROL_START << FTRACE_REGION_EVENT_SHIFT);
            cpu.snapshot(1, 1, 0).at(from + inside);
            cpu.record(FTrace_EXT_region, 1, CONTROL_STOP << FTRACE_REGION_EVENT_SHIFT);
          }
          cpu.at(500 * kMs).stop();
        },
        R"(, "control": {"chains": [{"name": "", "text": "start:enter_func:f"}]})");
  };
  add_a(regions(4 * kMs, 10 * kMs));
  add_b(regions(5 * kMs, 70 * kMs));
  EXPECT_EQ(sentence(compare(runs), runs.names),
            "In the recorded regions, B is 3.000 ms slower (+25.0 %): +3.000 ms running.");
  EXPECT_EQ(json()["a"][0]["wall_ns"], 12 * kMs);
}

TEST_F(Diff, GroupsNamePageFaultsIfStacksShowThem) {
  add_a(trace(
      [](TraceBuilder &builder) {
        auto &cpu = builder.cpu(0).at(0).start().id(1, 11, 11, "app").dispatch(1).at(kMs);
        cpu.record(FTrace_EXT_stack, 1, 1);
        cpu.record(uint16_t(FTrace_EVT_task_sleep | FTRACE_CALL_CODE(FTRACE_CALL_NONE)), 1,
                   FTRACE_OFFCPU_DISK << FTRACE_REASON_SHIFT | FTRACE_CALL_PAR2(FTRACE_CALL_NONE));
        cpu.at(9 * kMs).activate(1, 0, FTRACE_WAKER_HARDIRQ).dispatch(1).at(10 * kMs).stop();
      },
      R"(, "options": {"stacks": "kernel"}, "stacks": [{"kernel": [0]}],
           "stack_frames": [{"kernel": true, "function": "exc_page_fault"}])"));
  std::set<std::string> calls;
  for (const auto &[cause, ns] : runs.a[0].life)
    calls.insert(cause.call);
  EXPECT_TRUE(calls.contains("page fault (uninterruptible)")) << *calls.rbegin();
}

TEST_F(Diff, FoldedStacksHaveTheTimesOfBoth) {
  const std::string first = trace(workers(20, "worker-", "io")), second = app({.slept = 7 * kMs});
  FoldedDiff folded;
  test::CollectingSink sink;
  for (const std::string &path : {first, second, second})
    folded.add(path == second, *open_trace({{path}}, sink), {}, sink, {{"nothing", "else"}});
  std::vector<std::string> lines;
  folded.lines([&](std::string_view line) { lines.emplace_back(line); });
  EXPECT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines.front(), "app;app;[nanosleep] 0 7000000") << "the mean of a run";
}

/// Digits of processes and threads are folded, those of functions are not.
TEST_F(Diff, FoldedStacksOfThreadsWithNumbersAreOneLine) {
  constexpr uint32_t kPread = FTRACE_CALL_NATIVE + 17; // pread64 of x86-64
  const auto sleep = [&](const std::string &process, const std::string &thread, uint64_t ns) {
    return trace([=](TraceBuilder &builder) {
      auto &cpu = builder.cpu(0).at(100).start().id(1, 11, 11, process).id(2, 12, 11, thread);
      cpu.dispatch(2).at(200);
      cpu.record(uint16_t(FTrace_EVT_task_sleep | FTRACE_CALL_CODE(kPread)), 2,
                 FTRACE_CALL_PAR2(kPread) | FTRACE_OFFCPU_SLEEP << FTRACE_REASON_SHIFT);
      cpu.at(200 + ns).activate(2, 0, FTRACE_WAKER_HARDIRQ).dispatch(2).at(5000).stop();
    });
  };
  FoldedDiff folded;
  test::CollectingSink sink;
  const auto add = [&](bool second, const std::string &path, const Renames &renames = {}) {
    folded.add(second, *open_trace({{path}}, sink), {}, sink, renames);
  };
  std::vector<std::string> lines;
  const auto list = [&] {
    lines.clear();
    folded.lines([&](std::string_view line) { lines.emplace_back(line); });
    return lines;
  };
  add(false, sleep("app1", "io-1", 10));
  EXPECT_EQ(list(), std::vector<std::string>{"app*;io-*;[pread64] 10 0"});
  add(false, sleep("old", "io-22", 50), {{"old", "app*"}});
  add(true, sleep("app3", "io-7", 600));
  EXPECT_EQ(list(), std::vector<std::string>{"app*;io-*;[pread64] 30 600"});
}

} // namespace
} // namespace ovnitrace
