// SPDX-License-Identifier: BSD-2-Clause
// How the answer of `why` names programs, holders and wakers.
#include "emulator/why/answered_summary.h"
#include "tests/unit/support/sentences_rig.h"

namespace ovnitrace {
namespace {

using test::ChunkBuilder;
using test::kMs;

class AnswerNames : public test::SentencesRig {};

TEST_F(AnswerNames, HoldersWithoutANameAreNoProgramThatAnAdviceCouldName) {
  about(R"(, "cpu_holders": true)");
  auto &cpu = trace.cpu(0).at(0).start().id(1, 10, 10, "app").dispatch(1);
  cpu.at(10 * kMs).epilogue(1, 98).at(40 * kMs).record(FTrace_EXT_holder, 0, 99);
  cpu.at(60 * kMs).dispatch(1).at(100 * kMs).end(1, 10).stop();
  EXPECT_NE(answer().sentences.find("nearly always behind threads without a name."),
            std::string::npos);
  EXPECT_EQ(answer().advice, "");
}

TEST_F(AnswerNames, TheProgramHasTheNameThatWasStarted) {
  about("");
  auto &cpu = trace.cpu(0).at(0).start().id(1, 10, 10, "main").id(2, 11, 10, "worker");
  cpu.dispatch(1).at(50 * kMs).end(1, 10).dispatch(2).at(100 * kMs).end(2, 11).stop();
  EXPECT_EQ(answer().sentences.find("app (10, 2 threads) ran for "), 0u) << answer().sentences;
  EXPECT_EQ(answer().advice, "");
}

TEST_F(AnswerNames, AProgramIsNamedByWhatItExecutedLongest) {
  const std::pair<const char *, const char *> cases[] = {
      {R"("taskset 1 app x"}, {"pid": 10, "since_ns": 2, "text": "/opt/solver x /in/y")", "solver"},
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

TEST_F(AnswerNames, AProgramThatOnlyStartsOthersNamesThem) {
  about("");
  auto &cpu = trace.cpu(0).at(0).start().id(1, 10, 10, "app").id(2, 20, 20, "solver");
  cpu.parent(2, 10).id(3, 30, 30, "solver").parent(3, 10).dispatch(1).at(10 * kMs).end(1, 20);
  cpu.dispatch(2).at(60 * kMs).end(2, 30).dispatch(3).at(100 * kMs).end(3, 0).stop();
  EXPECT_EQ(answer().sentences.find("app (3 threads of 3 processes, mostly solver) ran "), 0u)
      << answer().sentences;
}

TEST_F(AnswerNames, OneThreadIsNamedWithItsNumber) {
  about("");
  auto &cpu = trace.cpu(0).at(0).start().id(1, 10, 10, "app").dispatch(1);
  cpu.at(100 * kMs).end(1, 10).stop();
  EXPECT_EQ(answer().sentences,
            "app (10) ran for 100 % of its life and never waited for a CPU. It was never blocked.");
}

TEST_F(AnswerNames, AHolderThatIsNotTracedHasItsName) {
  about(R"(, "cpu_holders": true, "peers": [{"tid": 99, "pid": 99, "name": "cron"}])");
  auto &cpu = trace.cpu(0).at(0).start().id(1, 10, 10, "app").dispatch(1);
  cpu.at(10 * kMs).epilogue(1, 99).at(60 * kMs).dispatch(1).at(100 * kMs).end(1, 10).stop();
  const Answer of = answer();
  EXPECT_EQ(of.sentences, "app (10) ran for 50 % of its life and waited 50 % for a CPU, nearly "
                          "always behind cron. It was never blocked.");
  EXPECT_NE(of.advice.find("cron (99)"), std::string::npos) << of.advice;
}

TEST_F(AnswerNames, AHolderThatIsNotKnownIsSaidToBeUnknown) {
  about(R"(, "cpu_holders": true)");
  auto &cpu = trace.cpu(0).at(0).id(1, 10, 10, "app").snapshot(1, 5, 0).start();
  cpu.at(50 * kMs).dispatch(1).at(100 * kMs).end(1, 10).stop();
  EXPECT_EQ(answer().sentences,
            "app (10) ran for 50 % of its life and waited 50 % for a CPU, nearly "
            "always behind an unknown holder. It was never blocked.");
}

TEST_F(AnswerNames, ATraceWithoutHoldersDoesNotNameWhoGotTheCpuFirst) {
  about(R"(, "peers": [{"tid": 99, "pid": 99, "name": "cron"}])");
  auto &cpu = trace.cpu(0).at(0).start().id(1, 10, 10, "app").dispatch(1);
  cpu.at(10 * kMs).epilogue(1, 99).at(60 * kMs).dispatch(1).at(100 * kMs).end(1, 10).stop();
  const Answer of = answer();
  EXPECT_EQ(of.sentences, "app (10) ran for 50 % of its life and waited 50 % for a CPU, nearly "
                          "always while no traced thread had that CPU. It was never blocked.");
  EXPECT_EQ(of.advice, "");
}

TEST_F(AnswerNames, SeveralProgramsMayWaitBehindEachOther) {
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

TEST_F(AnswerNames, OneOfSeveralWakersOfANameIsNamedIfItWokeMost) {
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

/// app (10), its child (12), and a hog (90) that was there before; all on one CPU.
test::ChunkBuilder &machine(test::TraceBuilder &trace) {
  auto &cpu = trace.cpu(0).at(0).start().id(1, 10, 10, "app").parent(1, 9).id(2, 90, 90, "hog");
  cpu.id(3, 12, 12, "child", 10 * kMs).parent(3, 10, 10 * kMs).dispatch(1);
  cpu.at(10 * kMs).create(3, 12).activate_new(3, 10).at(20 * kMs).epilogue(1, 90).dispatch(2);
  cpu.at(80 * kMs).epilogue(2, 10).dispatch(1).at(90 * kMs).end(1, 10).dispatch(3);
  return cpu.at(100 * kMs).end(3, 12).dispatch(2).stop();
}

TEST_F(AnswerNames, ProgramIsExplainedInATraceOfTheMachine) {
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

TEST_F(AnswerNames, AMachineWithoutAProgramHasTheTimeOfItsCpus) {
  trace.json(R"({"version": 1, "all_threads": true})");
  machine(trace);
  EXPECT_EQ(answer().sentences, "The CPU was busy for 100 % of 100.0 ms, longest with hog (60 %). "
                                "Threads waited 160.0 ms for a CPU, mostly behind hog.");
  EXPECT_EQ(answer().advice, "") << "nobody owns all of its programs";
}

/// Thread 900 is not traced, and is another one on each host.
TEST_F(AnswerNames, AnUntracedHolderHasTheNameThatItHasOnItsHost) {
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

TEST_F(AnswerNames, AProcessWhoseMainThreadRenamedItselfHasTheNameOfItsProgram) {
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

TEST_F(AnswerNames, TheChainsAreNamedIfNoRegionStarted) {
  about(R"(, "control": {"chains": [{"name": "", "text": "start:enter_func:f"},
                                    {"name": "b", "text": "start:enter_func:g"}]})");
  trace.cpu(0).at(0).start().at(100).stop();
  EXPECT_EQ(answer().sentences, "No region of --control started, so nothing was recorded: "
                                "start:enter_func:f, b.");
}

TEST_F(AnswerNames, ASummaryAnswersForTheProgramAndSumsUpAllThreads) {
  about(R"(, "all_threads": true)");
  machine(trace);
  trace.write();
  source = open_trace({{dir.path()}}, sink);
  const AnsweredSummary both = summarize_and_answer(*source, read_trace_info(dir.path(), sink), {});
  EXPECT_EQ(both.answer.sentences, answer().sentences);
  EXPECT_EQ(both.summary.threads.size(), 3u);
  EXPECT_EQ(both.summary.cpus.at(0).busy, 100 * kMs);
}

} // namespace
} // namespace ovnitrace
