// SPDX-License-Identifier: BSD-2-Clause
// The advice below the answer of `why`, `info`, `stat` and the page.
#include "emulator/why/answered_summary.h"
#include "tests/unit/support/sentences_rig.h"

namespace ovnitrace {
namespace {

using test::ChunkBuilder;
using test::kMs;

class AnswerAdvice : public test::SentencesRig {};

// With a capture of one process, no dispatch says the priority of a holder.
TEST_F(AnswerAdvice, TheAdviceKnowsTheClassOfAHolderThatIsNotTraced) {
  const std::map<int, std::string> advised = {
      {FTRACE_CLASS_UNKNOWN, "."},
      {FTRACE_CLASS_NORMAL, ", or to give it a smaller share (the weight of its cgroup, or nice if "
                            "both are in the same cgroup and session)."},
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

/// It can neither be moved nor slowed down. A program of the same name can.
TEST_F(AnswerAdvice, AKernelThreadIsNoOtherProgram) {
  for (const bool kernel : {true, false}) {
    trace = test::TraceBuilder(dir.path());
    about(fmt::format(R"(, "cpu_holders": true, "cgroups": ["/b", "kernel"],
          "peers": [{{"tid": 99, "pid": 99, "name": "kworker/u8:2", "cgroup": {}}}])",
                      kernel ? 2 : 1));
    auto &cpu = trace.cpu(0).at(0).start().id(1, 10, 10, "app").dispatch(1).at(10 * kMs);
    cpu.epilogue(1, 99).at(60 * kMs).dispatch(1).at(100 * kMs).end(1, 10).stop();
    EXPECT_EQ(answer().advice, kernel ? ""
                                      : "app (10) waited 50.00 ms behind kworker/u8:2 (99). Try to "
                                        "move that program to other CPUs (taskset).");
  }
}

TEST_F(AnswerAdvice, ADeadlineThreadThatWaitsForItsNextPeriodGetsNoAdvice) {
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

TEST_F(AnswerAdvice, AQuotaIsToBlameAndHasAnAdvice) {
  about("");
  auto &cpu = trace.cpu(0).at(0).start().id(1, 10, 10, "app").dispatch(1);
  cpu.at(20 * kMs).epilogue(1, 0, FTRACE_OFFCPU_THROTTLED).at(100 * kMs).dispatch(1);
  cpu.at(100 * kMs + 1).end(1, 10).stop();
  EXPECT_EQ(answer().sentences,
            "app (10) ran for 20 % of its life and waited 80 % for a CPU, nearly always because no "
            "CPU quota was left. It was never blocked.");
  EXPECT_EQ(answer().advice, "Try a larger CPU quota: its cgroup had none left for 80.00 ms.");
}

TEST_F(AnswerAdvice, ThrottlingIsNotBlamedOnTheRunningThread) {
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

TEST_F(AnswerAdvice, TheAdviceDependsOnThePriorityOfTheWaitingThread) {
  about(R"(, "all_threads": true)");
  behind_hog(trace, 130, FTRACE_OFFCPU_PREEMPTED);
  EXPECT_EQ(
      answer().advice,
      "app (10) (nice 10) waited 80.00 ms behind hog (90). Try to raise the priority of app (10) "
      "first (renice, if both are in the same cgroup and session), or to move that program to "
      "other CPUs (taskset).");
}

TEST_F(AnswerAdvice, ARealTimeThreadIsNotPreemptedByANormalOne) {
  about(R"(, "all_threads": true)");
  behind_hog(trace, 59, FTRACE_OFFCPU_PREEMPTED);
  EXPECT_EQ(answer().advice,
            "app (10) waited 80.00 ms behind hog (90), which has a lower priority: the "
            "kernel keeps a part of each CPU for normal threads "
            "(kernel.sched_rt_runtime_us; since Linux 6.12 the fair server).");
}

TEST_F(AnswerAdvice, ARealTimeThreadCanBeThrottled) {
  about(R"(, "all_threads": true)");
  behind_hog(trace, 59, FTRACE_OFFCPU_THROTTLED);
  EXPECT_EQ(answer().advice,
            "Try a larger quota of real-time threads (cpu.rt_runtime_us of the "
            "cgroup, kernel.sched_rt_runtime_us): none was left for at most 80.00 ms.");
}

/// As of `taskset`: the first affinity is that of the launcher.
TEST_F(AnswerAdvice, AffinitiesDecideHowManyThreadsAreTooMany) {
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
    EXPECT_EQ(answer().advice, child == 0b1
                                   ? "Try fewer threads, or a wider affinity (taskset, "
                                     "OMP_PROC_BIND, cpuset of the cgroup): 1.9 "
                                     "of them wanted a CPU at a time, and they may use 1 of 2 CPUs."
                                   : "");
  }
}

/// It yields to hog for 10 ms each time. hog preempts it once.
TEST_F(AnswerAdvice, TheTimeAfterYieldsOfASpinningThreadIsNotLost) {
  about(R"(, "cpu_holders": true, "peers": [{"tid": 90, "pid": 90, "name": "hog"}])");
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
            "hog. It spins in sched_yield: for 60 % of its life, it had yielded, perhaps because "
            "it had nothing to do. It was never blocked.");
  EXPECT_EQ(of.advice,
            "app (10) waited 15.00 ms behind hog (90). Try to move that program to other CPUs "
            "(taskset).");
}

TEST_F(AnswerAdvice, AThreadThatIsPreemptedWhileOthersWaitForItsLock) {
  about("");
  auto &cpu = trace.cpu(0).at(0).start().id(1, 10, 10, "app").id(2, 11, 10, "owner");
  block(cpu.dispatch(1).at(5 * kMs), 1, 11).dispatch(2).at(10 * kMs).epilogue(2, 99);
  cpu.at(90 * kMs).dispatch(2).at(95 * kMs).activate(1, 11).at(96 * kMs).end(2, 11).dispatch(1);
  cpu.at(100 * kMs).end(1, 10).stop();
  EXPECT_EQ(answer().advice,
            "Try to keep the CPU of owner (11) free (fewer threads, taskset): this "
            "thread was preempted for 80.00 ms while others were blocked in futex; it woke them "
            "later.");
}

/// high (10) waits for low (11), which middle (12) preempts.
TEST_F(AnswerAdvice, ALockHolderIsPreemptedByAThreadThatHasAName) {
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
                        : "Try to keep the CPU of low (11) free (fewer threads, taskset)") +
            ": this thread was preempted, mostly by middle (12), for 80.00 ms while others were "
            "blocked in futex; it woke them later.");
  }
}

/// Helpers of an MPI library sleep until the worker ends: nobody waited for them.
TEST_F(AnswerAdvice, ThreadsThatSleepNearlyAllTheTimeGiveNoAdvice) {
  about("");
  auto &cpu = trace.cpu(0).at(0).id(1, 10, 10, "app").id(2, 11, 10, "progress");
  cpu.snapshot(1, 1, 0).snapshot(2, 2, 0).start().at(30 * kMs);
  block(cpu, 1).at(60 * kMs).activate(1, 0, FTRACE_WAKER_HARDIRQ).dispatch(1).at(99 * kMs);
  cpu.activate(2, 10).epilogue(1, 11).dispatch(2).at(99 * kMs + 50'000).end(2, 10).dispatch(1);
  cpu.at(100 * kMs).end(1, 0).stop();
  EXPECT_EQ(answer().advice, "");
}

/// Several blocked threads do not make the preemption longer.
TEST_F(AnswerAdvice, ALockHolderIsPreemptedOnceForAllWhoWaitForIt) {
  about("");
  auto &cpu = trace.cpu(0).at(0).start().id(1, 10, 10, "app").id(2, 11, 10, "owner");
  cpu.id(3, 12, 10, "late").dispatch(1);
  block(cpu.at(5 * kMs), 1, 12).dispatch(3).at(7 * kMs);
  block(cpu, 3, 11).dispatch(2).at(10 * kMs).epilogue(2, 99).at(90 * kMs).dispatch(2);
  cpu.at(95 * kMs).activate(1, 11).activate(3, 11).at(96 * kMs).end(2, 11).dispatch(1);
  cpu.at(98 * kMs).end(1, 10).dispatch(3).at(100 * kMs).end(3, 12).stop();
  EXPECT_NE(answer().advice.find("owner (11) free (fewer threads, taskset): this thread was "
                                 "preempted for 80.00 ms while others were blocked"),
            std::string::npos)
      << answer().advice;
}

TEST_F(AnswerAdvice, AdviceHasTheCommandThatExplainsTheSame) {
  trace.json(R"({"version": 1, "machine": "x86_64", "command": ["app"], "program_pid": 10})");
  auto &cpu = trace.cpu(0).at(0).start().id(1, 10, 10, "app").id(2, 11, 10, "worker").dispatch(1);
  block(cpu.at(10 * kMs), 1).dispatch(2).at(90 * kMs).activate(1, 11).epilogue(2, 10).dispatch(1);
  cpu.at(100 * kMs).stop();
  trace.write();
  source = open_trace({{dir.path()}}, sink);
  info = read_trace_info(dir.path(), sink);
  const AnsweredSummary all =
      summarize_and_answer(*source, info, {}, nullptr, "ovnitrace why run --tid 10");
  EXPECT_EQ(all.answer.advice.find("Try `ovnitrace why run --tid 10 --critical-path`: "), 0u)
      << all.answer.advice;
}

} // namespace
} // namespace ovnitrace
