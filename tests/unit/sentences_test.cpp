// SPDX-License-Identifier: BSD-2-Clause
// The two sentences that `why`, `info`, `stat` and the page open with.
#include "emulator/base/error.h"
#include "emulator/core/program_threads.h"
#include "emulator/open/open_trace.h"
#include "emulator/summary/report.h"
#include "emulator/why/answered_summary.h"
#include "emulator/why/explainer.h"
#include "emulator/why/sentences.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <gtest/gtest.h>
#include <ovnitrace/control.h>

namespace ovnitrace {
namespace {

constexpr uint64_t kMs = 1'000'000;
// x86-64's
constexpr uint32_t kFutex = FTRACE_CALL_NATIVE + 202, kRead = FTRACE_CALL_NATIVE;

class Sentences : public ::testing::Test {
protected:
  Sentences() : trace(dir.path()) {}

  /// What trace.json says: of a capture of app (10), or of all threads with it.
  void about(const std::string &more) {
    trace.json(R"({"version": 1, "machine": "x86_64", "command": ["/usr/bin/app", "x"],
                   "program_pid": 10)" +
               more + "}");
  }
  /// Describes a capture that started a program, whose process runs.
  static test::ChunkBuilder &start_app(test::TraceBuilder &builder, uint32_t pid) {
    builder.json(R"({"version": 1, "machine": "x86_64", "command": ["app"], "program_pid": )" +
                 std::to_string(pid) + "}");
    return builder.cpu(0).at(0).start().id(1, pid, pid, "app").create(1, pid).dispatch(1);
  }
  static test::ChunkBuilder &block(test::ChunkBuilder &cpu, uint16_t context, uint32_t next = 0) {
    return cpu.record(uint16_t(FTrace_EVT_task_sleep | FTRACE_CALL_CODE(kFutex)), context,
                      next | FTRACE_OFFCPU_SLEEP << FTRACE_REASON_SHIFT | FTRACE_CALL_PAR2(kFutex));
  }
  Answer answer(const Cut &cut = {}) {
    trace.write();
    source = open_trace({{dir.path()}}, sink);
    const TraceInfo info = read_trace_info(dir.path(), sink);
    const Catalog &catalog = source->catalog();
    return answer_of(info, catalog, explain(*source, cut_to_program(cut, info, catalog)));
  }

  test::TempDir dir;
  test::TraceBuilder trace;
  test::CollectingSink sink;
  std::unique_ptr<EventSource> source;
};

TEST_F(Sentences, AProgramThatWaitsForItselfAndIsWokenByAnother) {
  about("");
  auto &cpu = trace.cpu(0).at(0).start();
  cpu.id(1, 10, 10, "app").id(2, 11, 10, "worker", 10 * kMs).id(3, 20, 20, "loader").parent(3, 10);
  cpu.dispatch(1).at(10 * kMs).activate_new(2, 10).at(40 * kMs).epilogue(1, 11).dispatch(2);
  block(cpu.at(60 * kMs), 2, 10).dispatch(1).at(80 * kMs).end(1, 10);
  cpu.at(90 * kMs).activate(2, 20).dispatch(2).at(100 * kMs).end(2, 11).stop();
  Cut cut;
  cut.pids = {10};
  const Answer of = answer(cut);
  EXPECT_EQ(of.sentences, "app (10, 2 threads) ran for 53 % of its life and waited 29 % for a "
                          "CPU, nearly always behind its own threads. It was blocked in futex for "
                          "18 %, woken by loader (20).");
}

TEST_F(Sentences, HoldersWithoutANameAreNamedSo) {
  about(R"(, "cpu_holders": true)");
  auto &cpu = trace.cpu(0).at(0).start().id(1, 10, 10, "app").dispatch(1);
  cpu.at(10 * kMs).epilogue(1, 98).at(40 * kMs).record(FTrace_EXT_holder, 0, 99);
  cpu.at(60 * kMs).dispatch(1).at(100 * kMs).end(1, 10).stop();
  EXPECT_EQ(answer().advice,
            "app (10) waited 50.00 ms behind threads without a name. Try to move that "
            "program to other CPUs (taskset).");
}

// With a capture of one process, no dispatch says the priority of a holder.
TEST_F(Sentences, TheAdviceKnowsTheClassOfAHolderThatIsNotTraced) {
  const std::map<int, std::string> advised = {
      {FTRACE_CLASS_UNKNOWN, "."},
      {FTRACE_CLASS_NORMAL, ", or to give it a smaller share (nice, or the weight of its cgroup)."},
      {FTRACE_CLASS_REAL_TIME,
       ", or to remove its real-time priority (chrt --all-tasks --other -p 0 PID)."},
      {FTRACE_CLASS_DEADLINE,
       ", or to remove its real-time priority (chrt --all-tasks --other -p 0 PID)."}};
  for (const auto &[of, words] : advised)
    for (const bool switched : {true, false}) {
      trace = test::TraceBuilder(dir.path());
      about(R"(, "cpu_holders": true, "peers": [{"tid": 99, "pid": 99, "name": "burst"}])");
      const uint32_t holder = 99 | uint32_t(of) << FTRACE_CLASS_SHIFT;
      auto &cpu = trace.cpu(0).at(0).start().id(1, 10, 10, "app").dispatch(1).at(10 * kMs);
      cpu.epilogue(1, switched ? holder : 98);
      if (!switched)
        cpu.record(FTrace_EXT_holder, 0, holder);
      cpu.at(60 * kMs).dispatch(1).at(100 * kMs).end(1, 10).stop();
      EXPECT_EQ(answer().advice,
                "app (10) waited 50.00 ms behind burst (99). Try to move that program to other "
                "CPUs (taskset)" +
                    words);
    }
}

TEST_F(Sentences, ADeadlineThreadThatWaitsForItsNextPeriodGetsNoAdvice) {
  about(R"(, "cpu_holders": true, "sees_refills": true, "peers": [{"tid": 99, "pid": 99,
           "name": "hog"}])");
  auto &cpu = trace.cpu(0).at(0).start().id(1, 10, 10, "app").dispatch(1, 1);
  cpu.at(10 * kMs).epilogue(1, 99, FTRACE_OFFCPU_NEXT_PERIOD);
  cpu.at(60 * kMs).record(FTrace_EXT_refill, 1).dispatch(1, 1).at(100 * kMs).end(1, 10).stop();
  const Answer of = answer();
  EXPECT_EQ(of.sentences,
            "app (10) ran for 50 % of its life and waited 50 % for a CPU, nearly always until the "
            "next period (SCHED_DEADLINE). It was never blocked.");
  EXPECT_EQ(of.advice, "");
}

TEST_F(Sentences, TheDescriptionOfATraceIsNoTrace) {
  about("");
  trace.cpu(0).at(0).start().id(1, 10, 10, "app").dispatch(1).at(100).end(1, 10).stop();
  trace.write();
  try {
    open_trace({{dir / "trace.json"}}, sink);
    ADD_FAILURE() << "it was opened";
  } catch (const Error &error) {
    EXPECT_EQ(error.what(), (dir / "trace.json") +
                                " only describes a trace: name the directory "
                                "of the trace, " +
                                dir.path());
  }
}

TEST_F(Sentences, TheProgramHasTheNameThatWasStarted) {
  about("");
  auto &cpu = trace.cpu(0).at(0).start().id(1, 10, 10, "main").id(2, 11, 10, "worker");
  cpu.dispatch(1).at(50 * kMs).end(1, 10).dispatch(2).at(100 * kMs).end(2, 11).stop();
  EXPECT_EQ(answer().sentences.find("app (10, 2 threads) ran for "), 0u) << answer().sentences;
  EXPECT_EQ(answer().advice, "");
}

TEST_F(Sentences, AProgramIsNamedByWhatItExecutedLongest) {
  const std::pair<const char *, const char *> cases[] = {
      {R"("taskset 1 app x"}, {"pid": 10, "since_ns": 2, "text": "/opt/solver x")", "solver"},
      {R"("/usr/bin/env python3 /bin/app"}, {"pid": 10, "since_ns": 2, "text": "python3 /bin/app")",
       "app"},
      {R"("/usr/bin/app x"}, {"pid": 11, "since_ns": 2, "text": "child")", "app"},
      {R"("app x"}, {"pid": 10, "since_ns": 90000000, "text": "sleep 0.01")", "app"},
  };
  for (const auto &[lines, name] : cases) {
    trace = test::TraceBuilder(dir.path());
    about(std::string(R"(, "command_lines": [{"pid": 10, "since_ns": 1, "text": )") + lines + "}]");
    auto &cpu = trace.cpu(0).at(0).start().id(1, 10, 10, "main").id(2, 12, 10, "worker");
    cpu.dispatch(1).at(50 * kMs).end(1, 10).dispatch(2).at(100 * kMs).end(2, 12).stop();
    EXPECT_EQ(answer().sentences.find(std::string(name) + " (10, 2 threads) ran"), 0u)
        << answer().sentences;
  }
}

TEST_F(Sentences, AProgramThatOnlyStartsOthersNamesThem) {
  about("");
  auto &cpu = trace.cpu(0).at(0).start().id(1, 10, 10, "app").id(2, 20, 20, "solver");
  cpu.parent(2, 10).id(3, 30, 30, "solver").parent(3, 10).dispatch(1).at(10 * kMs).end(1, 20);
  cpu.dispatch(2).at(60 * kMs).end(2, 30).dispatch(3).at(100 * kMs).end(3, 0).stop();
  EXPECT_EQ(answer().sentences.find("app (3 threads of 3 processes, mostly solver) ran "), 0u)
      << answer().sentences;
}

TEST_F(Sentences, OneThreadIsNamedWithItsNumber) {
  about("");
  auto &cpu = trace.cpu(0).at(0).start().id(1, 10, 10, "app").dispatch(1);
  cpu.at(100 * kMs).end(1, 10).stop();
  EXPECT_EQ(answer().sentences,
            "app (10) ran for 100 % of its life and never waited for a CPU. It was never blocked.");
}

TEST_F(Sentences, LittleWaitingHasNobodyToBlame) {
  about("");
  auto &cpu = trace.cpu(0).at(0).start().id(1, 10, 10, "app").dispatch(1);
  cpu.at(10 * kMs).epilogue(1, 99).at(10 * kMs + 1000).dispatch(1).at(100 * kMs).end(1, 10).stop();
  EXPECT_EQ(answer().sentences, "app (10) ran for 100 % of its life and waited less than 1 % for a "
                                "CPU. It was never blocked.");
}

TEST_F(Sentences, AHolderThatIsNotTracedHasItsName) {
  about(R"(, "cpu_holders": true, "peers": [{"tid": 99, "pid": 99, "name": "cron"}])");
  auto &cpu = trace.cpu(0).at(0).start().id(1, 10, 10, "app").dispatch(1);
  cpu.at(10 * kMs).epilogue(1, 99).at(60 * kMs).dispatch(1).at(100 * kMs).end(1, 10).stop();
  const Answer of = answer();
  EXPECT_EQ(of.sentences, "app (10) ran for 50 % of its life and waited 50 % for a CPU, nearly "
                          "always behind cron. It was never blocked.");
  EXPECT_NE(of.advice.find("cron (99)"), std::string::npos) << of.advice;
}

TEST_F(Sentences, AHolderThatIsNotKnownIsSaidToBeUnknown) {
  about(R"(, "cpu_holders": true)");
  auto &cpu = trace.cpu(0).at(0).id(1, 10, 10, "app").snapshot(1, 5, 0).start();
  cpu.at(50 * kMs).dispatch(1).at(100 * kMs).end(1, 10).stop();
  EXPECT_EQ(answer().sentences,
            "app (10) ran for 50 % of its life and waited 50 % for a CPU, nearly "
            "always behind an unknown holder. It was never blocked.");
}

TEST_F(Sentences, ATraceWithoutHoldersDoesNotNameWhoGotTheCpuFirst) {
  about(R"(, "peers": [{"tid": 99, "pid": 99, "name": "cron"}])");
  auto &cpu = trace.cpu(0).at(0).start().id(1, 10, 10, "app").dispatch(1);
  cpu.at(10 * kMs).epilogue(1, 99).at(60 * kMs).dispatch(1).at(100 * kMs).end(1, 10).stop();
  const Answer of = answer();
  EXPECT_EQ(of.sentences, "app (10) ran for 50 % of its life and waited 50 % for a CPU, nearly "
                          "always while no traced thread had that CPU. It was never blocked.");
  EXPECT_EQ(of.advice, "");
}

TEST_F(Sentences, UnknownTimeIsSaid) {
  about("");
  auto &cpu = trace.cpu(0).at(0).start().id(1, 10, 10, "app").at(25 * kMs).dispatch(1);
  cpu.at(100 * kMs).end(1, 10).stop();
  EXPECT_EQ(answer().sentences, "app (10) ran for 75 % of its life and never waited for a CPU. It "
                                "was never blocked; 25 % is not known.");
}

/// A server: its main thread (10) sleeps, 11 works.
TEST_F(Sentences, ThreadsThatSleepAllTheTimeDoNotCount) {
  about("");
  auto &server = trace.cpu(0).at(0);
  server.id(1, 10, 10, "app").id(2, 11, 10, "worker").id(3, 12, 10, "bio");
  server.snapshot(1, 2, 0).snapshot(2, 1, 0).snapshot(3, 2, 0).start();
  block(server.at(40 * kMs), 2).at(100 * kMs).stop();
  EXPECT_EQ(answer().sentences, "app (10, 3 threads) ran for 40 % of its life and never waited for "
                                "a CPU. It was blocked in futex for 60 %, and nobody has woken it. "
                                "Threads that slept nearly all the time are left out: 2.");
}

/// A server whose helper (12) runs `run` ns of 100 ms in futex, while its worker waits in read.
TEST_F(Sentences, AThreadThatRanForAThousandthOfItsLifeDoesNotCount) {
  for (const uint64_t run : {100'000u, 101'000u}) {
    trace = test::TraceBuilder(dir.path());
    about("");
    auto &cpu = trace.cpu(0).at(0).id(1, 11, 10, "worker").id(2, 12, 10, "bio");
    cpu.snapshot(1, 1, 0).snapshot(2, 2, 0).start().at(20 * kMs);
    cpu.record(uint16_t(FTrace_EVT_task_sleep | FTRACE_CALL_CODE(kRead)), 1,
               FTRACE_OFFCPU_SLEEP << FTRACE_REASON_SHIFT | FTRACE_CALL_PAR2(kRead));
    cpu.at(50 * kMs).activate(2, 0, FTRACE_WAKER_HARDIRQ).dispatch(2);
    block(cpu.at(50 * kMs + run), 2).at(100 * kMs).stop();
    EXPECT_EQ(answer().sentences,
              run == 100'000 ? "app (10, 2 threads) ran for 20 % of its life and never waited "
                               "for a CPU. It was blocked in read for 80 %, and nobody has woken "
                               "it. Threads that slept nearly all the time are left out: 1."
                             : "app (10, 2 threads) ran for 10 % of its life and never waited "
                               "for a CPU. It was blocked for 90 %, most of all in read (44 % of "
                               "that), and nobody has woken it.");
  }
}

TEST_F(Sentences, AServerThatWaitsForItsNextRequestWasWokenBefore) {
  about("");
  auto &cpu = trace.cpu(0).at(0).start().id(1, 10, 10, "app").id(2, 20, 20, "curl").dispatch(1);
  block(cpu.at(5 * kMs), 1, 20).dispatch(2);
  cpu.at(10 * kMs).activate(1, 20).epilogue(2, 10).dispatch(1);
  block(cpu.at(20 * kMs), 1).at(100 * kMs).stop();
  const std::string text = answer().sentences;
  EXPECT_NE(text.find("blocked in futex"), text.npos) << text;
  EXPECT_EQ(text.find("nobody has woken"), text.npos) << text;
}

TEST_F(Sentences, SeveralProgramsMayWaitBehindEachOther) {
  trace.json(R"({"version": 1, "machine": "x86_64", "cpu_holders": true})");
  auto &cpu = trace.cpu(0).at(0).start().id(1, 10, 10, "redis").id(2, 20, 20, "xz");
  cpu.activate(1, 0).dispatch(2).at(60 * kMs).epilogue(2, 10).dispatch(1).at(80 * kMs);
  cpu.epilogue(1, 20).dispatch(2).at(90 * kMs).end(2, 10).dispatch(1).at(100 * kMs).end(1, 0);
  cpu.stop();
  Cut cut;
  cut.comms = {"redis", "xz"};
  trace.cpu(1).at(0).start().id(3, 30, 30, "other").dispatch(3).at(100 * kMs).stop();
  EXPECT_EQ(answer(cut).sentences,
            "redis, xz (2 threads of 2 processes) ran for 53 % of their life and waited 47 % for a "
            "CPU, mostly behind xz. They were never blocked.");
}

TEST_F(Sentences, OneOfSeveralWakersOfANameIsNamedIfItWokeMost) {
  for (const bool one : {true, false}) {
    trace = test::TraceBuilder(dir.path());
    about("");
    auto &cpu = trace.cpu(0).at(0).start().id(1, 10, 10, "main").id(2, 11, 10, "omp");
    trace.cpu(0).id(3, 12, 10, "omp").dispatch(1);
    uint64_t time = 10 * kMs;
    const auto wait_for = [&](uint16_t context, uint64_t ns) {
      block(cpu.at(time), 1, context + 9u).dispatch(context);
      time += ns;
      cpu.at(time).activate(1, context + 9u).sleep(context, 10).dispatch(1);
      time += kMs;
      cpu.at(time);
    };
    wait_for(2, 79 * kMs);
    wait_for(3, one ? 19 * kMs : 20 * kMs);
    cpu.end(1, 0).stop();
    const std::string text = answer().sentences;
    EXPECT_NE(text.find(one ? ", mostly woken by omp (11)" : ", woken by omp (2 threads)"),
              std::string::npos)
        << text;
  }
}

TEST_F(Sentences, AQuotaIsToBlameAndHasAnAdvice) {
  about("");
  auto &cpu = trace.cpu(0).at(0).start().id(1, 10, 10, "app").dispatch(1);
  cpu.at(20 * kMs).epilogue(1, 0, FTRACE_OFFCPU_THROTTLED).at(100 * kMs).dispatch(1);
  cpu.at(100 * kMs + 1).end(1, 10).stop();
  EXPECT_EQ(answer().sentences,
            "app (10) ran for 20 % of its life and waited 80 % for a CPU, nearly always because no "
            "CPU quota was left. It was never blocked.");
  EXPECT_EQ(answer().advice, "Try a larger CPU quota: its cgroup had none left for 80.00 ms.");
}

TEST_F(Sentences, ThrottlingIsNotBlamedOnTheRunningThread) {
  about(R"(, "all_threads": true)");
  auto &cpu = trace.cpu(0).at(0).start().id(1, 10, 10, "app").parent(1, 9).id(2, 90, 90, "hog");
  cpu.dispatch(1).at(20 * kMs).epilogue(1, 90, FTRACE_OFFCPU_THROTTLED).dispatch(2);
  cpu.at(80 * kMs).record(FTrace_EXT_refill, 1, 0).at(100 * kMs).epilogue(2, 10).dispatch(1);
  cpu.at(120 * kMs).end(1, 10).stop();
  EXPECT_EQ(answer().advice, "Try a larger CPU quota: its cgroup had none left for 60.00 ms.");
}

/// app (10) runs with `priority` and waits for 80 ms behind a normal thread, hog (90).
test::ChunkBuilder &behind_hog(test::TraceBuilder &trace, uint32_t priority, uint32_t reason) {
  auto &cpu = trace.cpu(0).at(0).start().id(1, 10, 10, "app").parent(1, 9).id(2, 90, 90, "hog");
  cpu.dispatch(1, FTRACE_PRIO_BIAS + priority).at(20 * kMs).epilogue(1, 90, reason);
  cpu.dispatch(2, FTRACE_PRIO_BIAS + 120).at(100 * kMs).epilogue(2, 10);
  return cpu.dispatch(1, FTRACE_PRIO_BIAS + priority).at(120 * kMs).end(1, 10).stop();
}

TEST_F(Sentences, TheAdviceDependsOnThePriorityOfTheWaitingThread) {
  about(R"(, "all_threads": true)");
  behind_hog(trace, 130, FTRACE_OFFCPU_PREEMPTED);
  EXPECT_EQ(
      answer().advice,
      "app (10) (nice 10) waited 80.00 ms behind hog (90). Try to raise the priority of app (10) "
      "first (renice), or to move that program to other CPUs (taskset).");
}

TEST_F(Sentences, ARealTimeThreadIsNotPreemptedByANormalOne) {
  about(R"(, "all_threads": true)");
  behind_hog(trace, 59, FTRACE_OFFCPU_PREEMPTED);
  EXPECT_EQ(answer().advice,
            "app (10) waited 80.00 ms behind hog (90), which has a lower priority: the "
            "kernel keeps a part of each CPU for normal threads "
            "(kernel.sched_rt_runtime_us; since Linux 6.12 the fair server).");
}

TEST_F(Sentences, ARealTimeThreadCanBeThrottled) {
  about(R"(, "all_threads": true)");
  behind_hog(trace, 59, FTRACE_OFFCPU_THROTTLED);
  EXPECT_EQ(answer().advice, "Try a larger quota of real-time threads (cpu.rt_runtime_us of the "
                             "cgroup, kernel.sched_rt_runtime_us): none was left for 80.00 ms.");
}

/// app (10), its child (12), and a hog (90) that was there before; all on one CPU.
test::ChunkBuilder &machine(test::TraceBuilder &trace) {
  auto &cpu = trace.cpu(0).at(0).start().id(1, 10, 10, "app").parent(1, 9).id(2, 90, 90, "hog");
  cpu.id(3, 12, 12, "child", 10 * kMs).parent(3, 10, 10 * kMs).dispatch(1);
  cpu.at(10 * kMs).create(3, 12).activate_new(3, 10).at(20 * kMs).epilogue(1, 90).dispatch(2);
  cpu.at(80 * kMs).epilogue(2, 10).dispatch(1).at(90 * kMs).end(1, 10).dispatch(3);
  return cpu.at(100 * kMs).end(3, 12).dispatch(2).stop();
}

TEST_F(Sentences, ProgramIsExplainedInATraceOfTheMachine) {
  about(R"(, "all_threads": true)");
  machine(trace);
  EXPECT_EQ(answer().sentences.find("app (2 threads of 2 processes) ran for 22 % of its life and "
                                    "waited 78 % for a CPU, mostly behind hog."),
            0u)
      << answer().sentences;
  EXPECT_EQ(answer().advice,
            "app waited 120.0 ms (sum of 2 threads) behind hog (90). Try to move that program to "
            "other CPUs (taskset).");
}

TEST_F(Sentences, AMachineWithoutAProgramHasTheTimeOfItsCpus) {
  trace.json(R"({"version": 1, "all_threads": true})");
  machine(trace);
  EXPECT_EQ(answer().sentences, "The CPU was busy for 100 % of 100.0 ms, longest with hog (60 %). "
                                "Threads waited 160.0 ms for a CPU, mostly behind hog.");
  EXPECT_EQ(answer().advice, "") << "nobody owns all of its programs";
}

/// As of `taskset`: the first affinity is that of the launcher.
TEST_F(Sentences, AffinitiesDecideHowManyThreadsAreTooMany) {
  for (const uint32_t child : {0b1u, 0b10u}) {
    trace = test::TraceBuilder(dir.path());
    about(R"(, "cpus": 2, "cpu_holders": true)");
    auto &cpu = trace.cpu(0).at(0).start().id(1, 10, 10, "app").id(2, 11, 10, "w", 1);
    cpu.record(FTrace_EXT_affinity, 1, 0b11).dispatch(1).record(FTrace_EXT_affinity, 1, 0b1);
    cpu.at(1).record(FTrace_EXT_affinity, 2, child).activate_new(2, 10);
    for (uint64_t at = 10 * kMs; at < 100 * kMs; at += 20 * kMs) {
      cpu.at(at).epilogue(1, 11).dispatch(2);
      cpu.at(at + 10 * kMs).epilogue(2, 10).dispatch(1);
    }
    cpu.at(110 * kMs).end(1, 11).dispatch(2).at(120 * kMs).stop();
    trace.cpu(1).at(0).start().at(120 * kMs).stop();
    EXPECT_EQ(answer().advice,
              child == 0b1 ? "Try fewer threads, or a wider affinity (taskset, OMP_PROC_BIND): 1.9 "
                             "of them wanted a CPU at a time, and they may use 1 of 2 CPUs."
                           : "");
  }
}

/// It yields to hog for 10 ms each time. hog preempts it once.
TEST_F(Sentences, TheTimeAfterYieldsOfASpinningThreadIsNotLost) {
  about(R"(, "cpu_holders": true)");
  auto &cpu = trace.cpu(0).at(0).start().id(1, 10, 10, "app").dispatch(1).at(15 * kMs);
  cpu.epilogue(1, 90).at(20 * kMs).dispatch(1);
  for (uint64_t at = 25 * kMs; at < 95 * kMs; at += 10 * kMs) {
    cpu.at(at).epilogue(1, 90, FTRACE_OFFCPU_YIELDED);
    cpu.at(at + 10 * kMs - 1000).dispatch(1); // it runs for 1 us
  }
  cpu.at(100 * kMs).end(1, 10).stop();
  const Answer of = answer();
  EXPECT_EQ(of.sentences,
            "app (10) ran for 25 % of its life and waited 15 % for a CPU, nearly always behind "
            "threads without a name. It spins in sched_yield: for 60 % of its life, it had yielded "
            "and had nothing to do. It was never blocked.");
  EXPECT_EQ(of.advice,
            "app (10) waited 15.00 ms behind thread 90. Try to move that program to other CPUs "
            "(taskset).");
}

TEST_F(Sentences, TheTimeOfMissingEventsIsNotIdle) {
  trace.json(R"({"version": 1, "all_threads": true})");
  for (const uint16_t n : {0, 1}) {
    auto &cpu = trace.cpu(n).at(0).start().id(1, 50 + n, 50 + n, "hog").dispatch(1);
    cpu.at(40 * kMs).blackout_start().at((n ? 100 : 80) * kMs).blackout_end(9).at(100 * kMs).stop();
  }
  EXPECT_EQ(answer().sentences, "The 2 CPUs were busy for 40 % of 100.0 ms, longest with hog "
                                "(40 %); 50 % is not known. No thread waited for a CPU.");
  Cut cut;
  cut.from = 60 * kMs;
  EXPECT_EQ(answer(cut).sentences, "The 2 CPUs were busy for 0 % of 40.00 ms; 75 % is not known. "
                                   "No thread waited for a CPU.");
}

TEST_F(Sentences, CpuNumbersWithGapsAreNoCpus) {
  trace.json(R"({"version": 1, "all_threads": true, "cpus": 3,
                 "topology": [{"cpu": 0}, {"cpu": 2}]})");
  for (const uint16_t n : {0, 2})
    trace.cpu(n).at(0).start().id(1, 50 + n, 50 + n, "hog").dispatch(1).at(100 * kMs).stop();
  EXPECT_EQ(answer().sentences, "The 2 CPUs were busy for 100 % of 100.0 ms, longest with hog "
                                "(100 %). No thread waited for a CPU.");
}

/// Thread 900 is not traced, and is another one on each host.
TEST_F(Sentences, AnUntracedHolderHasTheNameThatItHasOnItsHost) {
  test::TempDir other_dir;
  test::TraceBuilder other(other_dir.path());
  for (const auto &[builder, tid, peer, wait] : {std::tuple(&trace, 10u, "innocent", 10 * kMs),
                                                 std::tuple(&other, 20u, "guilty", 80 * kMs)}) {
    builder->json(
        std::string(R"({"version": 1, "command": ["x"], "cpu_holders": true, "peers": [{)") +
        R"("tid": 900, "pid": 900, "name": ")" + peer + R"("}]})");
    auto &cpu = builder->cpu(0).at(0).start().id(1, tid, tid, "app").dispatch(1);
    cpu.at(10 * kMs).epilogue(1, 900).at(10 * kMs + wait).dispatch(1).at(100 * kMs).stop();
    builder->write();
  }
  source = open_trace({{dir.path()}, {other_dir.path()}}, sink);
  const Answer of =
      answer_of(read_trace_info(dir.path(), sink), source->catalog(), explain(*source, {}));
  EXPECT_NE(of.sentences.find("mostly behind guilty"), std::string::npos) << of.sentences;
  EXPECT_NE(of.advice.find("80.00 ms (sum of 2 threads) behind guilty (900)"), std::string::npos)
      << of.advice;
}

TEST_F(Sentences, ASummaryAnswersForTheProgramAndSumsUpAllThreads) {
  about(R"(, "all_threads": true)");
  machine(trace);
  trace.write();
  source = open_trace({{dir.path()}}, sink);
  const AnsweredSummary both = summarize_and_answer(*source, read_trace_info(dir.path(), sink), {});
  EXPECT_EQ(both.answer.sentences, answer().sentences);
  EXPECT_EQ(both.summary.threads.size(), 3u);
  EXPECT_EQ(both.summary.cpus.at(0).busy, 100 * kMs);
}

TEST_F(Sentences, AThreadThatIsPreemptedWhileOthersWaitForItsLock) {
  about("");
  auto &cpu = trace.cpu(0).at(0).start().id(1, 10, 10, "app").id(2, 11, 10, "owner");
  block(cpu.dispatch(1).at(5 * kMs), 1, 11).dispatch(2).at(10 * kMs).epilogue(2, 99);
  cpu.at(90 * kMs).dispatch(2).at(95 * kMs).activate(1, 11).at(96 * kMs).end(2, 11).dispatch(1);
  cpu.at(100 * kMs).end(1, 10).stop();
  EXPECT_EQ(answer().advice,
            "Try to keep the CPU of owner (11) free (fewer threads, nice, taskset): this "
            "thread was preempted for 80.00 ms while others were blocked in futex; it woke them "
            "later.");
}

/// high (10) waits for low (11), which middle (12) preempts.
TEST_F(Sentences, ALockHolderIsPreemptedByAThreadThatHasAName) {
  for (const uint32_t priority : {89u, 120u}) {
    trace = test::TraceBuilder(dir.path());
    about("");
    auto &cpu = trace.cpu(0).at(0).start().id(1, 10, 10, "high").id(2, 11, 10, "low");
    cpu.id(3, 12, 10, "middle").dispatch(1, FTRACE_PRIO_BIAS + priority);
    block(cpu.at(5 * kMs), 1, 11).dispatch(2, FTRACE_PRIO_BIAS + priority).at(10 * kMs);
    cpu.epilogue(2, 12).dispatch(3, FTRACE_PRIO_BIAS + priority).at(90 * kMs).sleep(3, 11);
    cpu.dispatch(2, FTRACE_PRIO_BIAS + priority).at(95 * kMs).activate(1, 11).end(2, 10);
    cpu.dispatch(1, FTRACE_PRIO_BIAS + priority).at(100 * kMs).end(1, 0).stop();
    EXPECT_EQ(
        answer().advice,
        std::string(priority < 100
                        ? "Try priority inheritance (PTHREAD_PRIO_INHERIT) for the locks of low "
                          "(11), or to keep its CPU free (fewer threads, taskset)"
                        : "Try to keep the CPU of low (11) free (fewer threads, nice, taskset)") +
            ": this thread was preempted, mostly by middle (12), for 80.00 ms while others were "
            "blocked in futex; it woke them later.");
  }
}

/// Helpers of an MPI library sleep until the worker ends: nobody waited for them.
TEST_F(Sentences, ThreadsThatSleepNearlyAllTheTimeGiveNoAdvice) {
  about("");
  auto &cpu = trace.cpu(0).at(0).id(1, 10, 10, "app").id(2, 11, 10, "progress");
  cpu.snapshot(1, 1, 0).snapshot(2, 2, 0).start().at(30 * kMs);
  block(cpu, 1).at(60 * kMs).activate(1, 0, FTRACE_WAKER_HARDIRQ).dispatch(1).at(99 * kMs);
  cpu.activate(2, 10).epilogue(1, 11).dispatch(2).at(99 * kMs + 50'000).end(2, 10).dispatch(1);
  cpu.at(100 * kMs).end(1, 0).stop();
  EXPECT_EQ(answer().advice, "");
}

/// Several blocked threads do not make the preemption longer.
TEST_F(Sentences, ALockHolderIsPreemptedOnceForAllWhoWaitForIt) {
  about("");
  auto &cpu = trace.cpu(0).at(0).start().id(1, 10, 10, "app").id(2, 11, 10, "owner");
  cpu.id(3, 12, 10, "late").dispatch(1);
  block(cpu.at(5 * kMs), 1, 12).dispatch(3).at(7 * kMs);
  block(cpu, 3, 11).dispatch(2).at(10 * kMs).epilogue(2, 99).at(90 * kMs).dispatch(2);
  cpu.at(95 * kMs).activate(1, 11).activate(3, 11).at(96 * kMs).end(2, 11).dispatch(1);
  cpu.at(98 * kMs).end(1, 10).dispatch(3).at(100 * kMs).end(3, 12).stop();
  EXPECT_NE(answer().advice.find("owner (11) free (fewer threads, nice, taskset): this thread was "
                                 "preempted for 80.00 ms while others were blocked"),
            std::string::npos)
      << answer().advice;
}

constexpr uint32_t kStartRegion = CONTROL_START << FTRACE_REGION_EVENT_SHIFT | 1;
constexpr uint32_t kStopRegion = CONTROL_STOP << FTRACE_REGION_EVENT_SHIFT | 1;

TEST_F(Sentences, PercentagesReferToTheTimeInRegions) {
  about(R"(, "cpu_holders": true, "peers": [{"tid": 99, "pid": 99, "name": "cron"}])");
  auto &cpu = trace.cpu(0).at(0).start().id(1, 10, 10, "app").at(100 * kMs);
  cpu.record(FTrace_EXT_region, 1, kStartRegion).snapshot(1, 1, 0);
  cpu.at(120 * kMs).epilogue(1, 99).at(130 * kMs).dispatch(1).at(140 * kMs);
  cpu.record(FTrace_EXT_region, 1, kStopRegion).at(300 * kMs);
  cpu.record(FTrace_EXT_region, 1, kStartRegion).snapshot(1, 1, 0).at(310 * kMs);
  block(cpu, 1).at(350 * kMs).record(FTrace_EXT_region, 1, kStopRegion).at(500 * kMs).stop();
  EXPECT_EQ(answer().sentences,
            "app (10) ran for 44 % of its time in the regions of --control and waited 11 % for a "
            "CPU, nearly always behind cron. It was blocked in futex for 44 %; who woke it is "
            "not known.");
  const Explanation why = explain(*open_trace({{dir.path()}}, sink), {});
  EXPECT_EQ(why.recorded, 90 * kMs);
  EXPECT_EQ(why.threads[0].outside, 410 * kMs);
  EXPECT_EQ(why.threads[0].unknown, 0u);
}

TEST_F(Sentences, PercentagesOfRegionsReferToTheTimeInThem) {
  about("");
  auto &cpu = trace.cpu(0).at(0).start().id(1, 10, 10, "app").at(100 * kMs);
  cpu.record(FTrace_EXT_region, 1, kStartRegion).snapshot(1, 1, 0).at(150 * kMs);
  cpu.record(FTrace_EXT_region, 1, kStopRegion).at(500 * kMs).stop();
  trace.write();
  source = open_trace({{dir.path()}}, sink);
  const TraceInfo info = read_trace_info(dir.path(), sink);
  const AnsweredSummary all = summarize_and_answer(*source, info, {});
  const std::string text =
      text_report({dir.path(), info, source->catalog(), all.summary, all.answer});
  for (const char *line :
       {"regions   50.00 ms, to which times and percentages refer\n",
        "app (10)   10  50.00 ms  100.0 %          0          0         0        "
        "0\n",
        "CPU 0  50.00 ms  100.0 %"})
    EXPECT_NE(text.find(line), std::string::npos) << text;
}

TEST_F(Sentences, TablesLeaveTheStartGateOutAsTheAnswerDoes) {
  about("");
  auto &cpu = trace.cpu(0).at(0).start().id(1, 10, 10, "app").create(1, 10).dispatch(1);
  block(cpu.at(10 * kMs), 1).at(50 * kMs).activate(1, 99).at(60 * kMs).dispatch(1);
  cpu.record(FTrace_EXT_exec, 1, 10).at(150 * kMs).end(1, 99).stop();
  trace.write();
  const TraceInfo info = read_trace_info(dir.path(), sink);
  const auto summary_in = [&](uint64_t from) {
    source = open_trace({{dir.path()}}, sink);
    Cut cut;
    cut.from = from;
    return summarize_and_answer(*source, info, cut);
  };
  const AnsweredSummary all = summary_in(0);
  EXPECT_EQ(all.answer.sentences, "app (10) ran for 91 % of its life and waited 9 % for a CPU, "
                                  "nearly always while no traced thread had that CPU. It was "
                                  "never blocked.");
  const ReportInput input{dir.path(), info, source->catalog(), all.summary, all.answer};
  const std::string text = text_report(input, {.sort = "paused"});
  EXPECT_NE(text.find("app (10)   10  100.0 ms  90.9 %          0   10.00 ms         0        0\n"),
            std::string::npos)
      << text;
  EXPECT_NE(totals(input, {.top = 10}).find("               0  blocked (paused)"),
            std::string::npos)
      << totals(input, {.top = 10});
  EXPECT_EQ(all.summary.threads[0].gate, 40 * kMs);
  EXPECT_EQ(all.summary.threads[0].recorded(), 110 * kMs);
  EXPECT_NE(json_report(input, {}).find("\"start_gate_ns\": 40000000"), std::string::npos);
  EXPECT_EQ(summary_in(30 * kMs).summary.threads[0].gate, 20 * kMs) << "the part in the range";
}

TEST_F(Sentences, AProcessWhoseMainThreadRenamedItselfHasTheNameOfItsProgram) {
  auto &cpu = trace.cpu(0).at(0).start().id(1, 10, 10, "main-loop").id(2, 11, 10, "worker");
  cpu.dispatch(1).at(50 * kMs).epilogue(1, 11).dispatch(2).at(100 * kMs).stop();
  const std::pair<const char *, const char *> names[] = {
      {"/opt/bin/app --x", "app (10, 2 threads) ran "},
      {"-bash", "bash (10, 2 threads) ran "},
      {"sshd: user@pts", "sshd (10, 2 threads) ran "},
      {"/bin/sh ./main-loop 7", "main-loop (10, 2 threads) ran "},
      {"", "main-loop (10, 2 threads) ran "}};
  for (const auto &[line, start] : names) {
    trace.json(std::string(R"({"version": 1, "attached_pids": [10], "command_lines": [)") +
               R"({"pid": 10, "since_ns": 0, "text": ")" + line + "\"}]}");
    EXPECT_TRUE(answer().sentences.starts_with(start)) << line << ": " << answer().sentences;
  }
}

/// As with one trace: the call has its name, and the wait for the start does not count.
TEST_F(Sentences, SeveralTracesHaveTheirCallsAndStartGates) {
  test::TempDir other_dir;
  test::TraceBuilder other(other_dir.path());
  for (const auto &[builder, pid] : {std::pair(&trace, 10u), std::pair(&other, 20u)}) {
    auto &cpu = start_app(*builder, pid);
    block(cpu.at(10 * kMs), 1).at(50 * kMs).activate(1, 99).dispatch(1);
    block(cpu.record(FTrace_EXT_exec, 1, pid).at(60 * kMs), 1).at(90 * kMs).activate(1, 99);
    cpu.dispatch(1).at(100 * kMs).end(1, 99).stop();
    builder->write();
  }
  source = open_trace({{dir.path()}, {other_dir.path()}}, sink);
  const AnsweredSummary all = summarize_and_answer(*source, TraceInfo(), {});
  EXPECT_EQ(all.summary.threads[0].gate, 40 * kMs);
  EXPECT_EQ(all.summary.threads[1].gate, 40 * kMs);
  EXPECT_NE(all.answer.sentences.find("blocked in futex for 50 %"), std::string::npos)
      << all.answer.sentences;
}

/// A blackout of one host says nothing about the program of another.
TEST_F(Sentences, ABlackoutEndsOnlyTheStartGateOfItsHost) {
  test::TempDir other_dir;
  test::TraceBuilder other(other_dir.path());
  for (const auto &[builder, pid] : {std::pair(&trace, 10u), std::pair(&other, 20u)}) {
    auto &cpu = start_app(*builder, pid);
    block(cpu.at(10 * kMs), 1);
    if (builder == &other)
      cpu.at(20 * kMs).blackout_start().at(21 * kMs).blackout_end(1);
    cpu.at(50 * kMs).activate(1, 99).dispatch(1);
    cpu.record(FTrace_EXT_exec, 1, pid).at(100 * kMs).end(1, 99).stop();
    builder->write();
  }
  source = open_trace({{dir.path()}, {other_dir.path()}}, sink);
  const AnsweredSummary all = summarize_and_answer(*source, TraceInfo(), {});
  EXPECT_EQ(all.summary.threads[0].gate, 40 * kMs);
  EXPECT_EQ(all.summary.threads[1].gate, 0u);
}

TEST_F(Sentences, AdviceHasTheCommandThatExplainsTheSame) {
  trace.json(R"({"version": 1, "machine": "x86_64", "command": ["app"], "program_pid": 10})");
  auto &cpu = trace.cpu(0).at(0).start().id(1, 10, 10, "app").id(2, 11, 10, "worker").dispatch(1);
  block(cpu.at(10 * kMs), 1).dispatch(2).at(90 * kMs).activate(1, 11).epilogue(2, 10).dispatch(1);
  cpu.at(100 * kMs).stop();
  trace.write();
  source = open_trace({{dir.path()}}, sink);
  const TraceInfo info = read_trace_info(dir.path(), sink);
  const AnsweredSummary all =
      summarize_and_answer(*source, info, {}, nullptr, "ovnitrace why run --tid 10");
  EXPECT_EQ(all.answer.advice.find("Try `ovnitrace why run --tid 10 --critical-path`: "), 0u)
      << all.answer.advice;
}

TEST_F(Sentences, TheTitleOfInterruptsSaysWhichWereRecorded) {
  for (const bool all : {true, false}) {
    trace = test::TraceBuilder(dir.path());
    about(all ? R"(, "all_threads": true)" : "");
    auto &cpu = trace.cpu(0).at(0).start().id(1, 10, 10, "app").dispatch(1);
    cpu.at(100).record(FTrace_EVT_interrupt_start, 9, 10).at(200);
    cpu.record(FTrace_EVT_interrupt_end, 9, 10).at(300).stop();
    trace.write();
    source = open_trace({{dir.path()}}, sink);
    const TraceInfo info = read_trace_info(dir.path(), sink);
    const AnsweredSummary found = summarize_and_answer(*source, info, {});
    const std::string text = family_tables(
        {dir.path(), info, source->catalog(), found.summary, found.answer}, {.top = 10});
    EXPECT_NE(text.find(all ? "Interrupts on all CPUs, " : "Interrupts while traced threads ran, "),
              std::string::npos)
        << text;
  }
}

TEST_F(Sentences, TheChainsAreNamedIfNoRegionStarted) {
  about(R"(, "control": {"chains": [{"name": "", "text": "start:enter_func:f"},
                                    {"name": "b", "text": "start:enter_func:g"}]})");
  trace.cpu(0).at(0).start().at(100).stop();
  EXPECT_EQ(answer().sentences, "No region of --control started, so nothing was recorded: "
                                "start:enter_func:f, b.");
}

TEST_F(Sentences, ThoseOfASummaryNamePageFaults) {
  about(R"(, "options": {"stacks": "kernel"}, "stacks": [{"kernel": [0]}],
             "stack_frames": [{"kernel": true, "function": "exc_page_fault"}])");
  auto &cpu = trace.cpu(0).at(0).start().id(1, 10, 10, "app").dispatch(1).at(kMs);
  cpu.record(FTrace_EXT_stack, 1, 1);
  cpu.record(uint16_t(FTrace_EVT_task_sleep | FTRACE_CALL_CODE(FTRACE_CALL_NONE)), 1,
             FTRACE_OFFCPU_DISK << FTRACE_REASON_SHIFT | FTRACE_CALL_PAR2(FTRACE_CALL_NONE));
  cpu.at(10 * kMs).activate(1, 0, FTRACE_WAKER_HARDIRQ).dispatch(1).at(11 * kMs).stop();
  trace.write();
  for (const TraceInfo &info : {read_trace_info(dir.path(), sink), TraceInfo()}) { // or of several
    source = open_trace({{dir.path()}}, sink);
    const std::string said = summarize_and_answer(*source, info, {}).answer.sentences;
    EXPECT_NE(said.find(" blocked in page faults "), said.npos) << said;
  }
}

TEST_F(Sentences, AnEmptyTraceIsSaidSo) {
  about("");
  trace.cpu(0).at(0).start().at(100).stop();
  EXPECT_EQ(answer().sentences, "No thread was recorded.");
}

TEST(AnswerText, IsWrappedAndHasAnEmptyLineBehind) {
  EXPECT_EQ(answer_text({"one two three", "Try it."}, 7), "one two\nthree\nTry it.\n\n");
  EXPECT_EQ(answer_text({"one two", ""}, 100), "one two\n\n");
  EXPECT_EQ(answer_text({}, 100), "");
}

} // namespace
} // namespace ovnitrace
