// SPDX-License-Identifier: BSD-2-Clause
// The two sentences that `why`, `info`, `stat` and the page open with.
#include "emulator/base/error.h"
#include "emulator/open/open_trace.h"
#include "emulator/summary/report.h"
#include "emulator/why/answered_summary.h"
#include "emulator/why/explainer.h"
#include "emulator/why/sentences.h"
#include "tests/unit/support/sentences_rig.h"

#include <ovnitrace/control.h>

namespace ovnitrace {
namespace {

using test::kMs;
using test::kRead;

class Sentences : public test::SentencesRig {};

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

TEST_F(Sentences, LittleWaitingHasNobodyToBlame) {
  about("");
  auto &cpu = trace.cpu(0).at(0).start().id(1, 10, 10, "app").dispatch(1);
  cpu.at(10 * kMs).epilogue(1, 99).at(10 * kMs + 1000).dispatch(1).at(100 * kMs).end(1, 10).stop();
  EXPECT_EQ(answer().sentences, "app (10) ran for 100 % of its life and waited less than 1 % for a "
                                "CPU. It was never blocked.");
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
        "CPU 0        50.00 ms  100.0 %"})
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
  EXPECT_EQ(all.answer.sentences, "app (10) ran for 100 % of its life and never waited for a CPU. "
                                  "It was never blocked.");
  const ReportInput input{dir.path(), info, source->catalog(), all.summary, all.answer};
  const std::string text = text_report(input, {.sort = "paused"});
  EXPECT_NE(
      text.find("app (10)   10  100.0 ms  100.0 %          0          0         0        0\n"),
      std::string::npos)
      << text;
  EXPECT_NE(totals(input, {.top = 10}).find("               0  blocked (paused)"),
            std::string::npos)
      << totals(input, {.top = 10});
  EXPECT_EQ(all.summary.threads[0].gate, 40 * kMs);
  EXPECT_EQ(all.summary.threads[0].recorded(), 100 * kMs);
  EXPECT_EQ(all.summary.threads[0].wakeups, 0u) << "nor is that of ovnitrace counted";
  EXPECT_EQ(all.summary.threads[0].latency.count(), 0u);
  EXPECT_TRUE(all.summary.wakeups.empty());
  EXPECT_TRUE(all.why.held.empty());
  EXPECT_NE(json_report(input, {}).find("\"start_gate_ns\": 40000000"), std::string::npos);
  EXPECT_EQ(summary_in(30 * kMs).summary.threads[0].gate, 20 * kMs) << "the part in the range";
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
