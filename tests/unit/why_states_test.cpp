// SPDX-License-Identifier: BSD-2-Clause
// What `ovnitrace why` says of threads that are throttled, frozen, dead or about to start.
#include "emulator/why/wait_lines.h"
#include "tests/unit/support/why_rig.h"

namespace ovnitrace {
namespace {

using nlohmann::json;
using test::kMs;
using test::TraceBuilder;

class WhyStates : public test::WhyRig {};

TEST_F(WhyStates, AThreadIsThrottledUntilItsQuotaIsRefilled) {
  for (const bool sees : {true, false}) {
    trace = TraceBuilder(dir.path());
    trace.json(sees ? R"({"version": 1, "all_threads": true, "sees_refills": true})"
                    : R"({"version": 1, "all_threads": true})");
    auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "a").id(2, 22, 22, "hog").dispatch(1);
    affinity(cpu, 1, 0b11);
    cpu.at(100).epilogue(1, 22, FTRACE_OFFCPU_THROTTLED).dispatch(2);
    if (sees)
      cpu.at(400).record(FTrace_EXT_refill, 1);
    cpu.at(900).epilogue(2, 11).dispatch(1).record(FTrace_EXT_refill, 1).at(1000).stop();
    trace.cpu(1).at(0).start().id(1, 33, 33, "b").dispatch(1).at(600).sleep(1).at(1000).stop();
    explain_all();
    const json a = thread(report(), 11);
    std::map<json, json> after; // by holder
    for (const json &one : a["waiting"])
      after[one["holder_tid"]] = one["after_ns"];
    const std::map<json, json> expected =
        sees ? std::map<json, json>{{nullptr, {{"throttling", 300}}}, {22, {{"refill", 500}}}}
             : std::map<json, json>{{nullptr, {{"throttling", 800}}}};
    EXPECT_EQ(after, expected) << "nobody holds the CPU of a throttled thread";
    EXPECT_EQ(a["waiting_ns"], 800);
    EXPECT_EQ(a["idle_elsewhere_ns"], sees ? json(300) : json()) << "of the wait after the refill";
    const std::string text = why_text(input());
    EXPECT_EQ(text.find("throttled: no CPU quota") != text.npos, sees) << text;
    EXPECT_EQ(text.find("throttled, at most: no CPU quota") != text.npos, !sees) << text;
    const LongWait &longest = why.longest_waits.at(0);
    EXPECT_EQ(wait_line(input(), longest),
              sees
                  ? "a (11) waited 500 ns for CPU 0 from 0.000000 s: it had quota or budget again, "
                    "hog (22) ran there, CPU 1 was idle for 300 ns of it"
                  : "a (11) waited 800 ns for CPU 0 from 0.000000 s: no CPU quota was left");
    EXPECT_EQ(why.wait_lengths[size_t(WaitKind::throttling)].max(), sees ? 300u : 800u);
  }
}

TEST_F(WhyStates, ADeadlineThreadWaitsForItsNextPeriodBehindNobody) {
  for (const bool yields : {true, false}) {
    trace = TraceBuilder(dir.path());
    trace.json(R"({"version": 1, "all_threads": true, "sees_refills": true})");
    auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "dl").id(2, 22, 22, "hog").dispatch(1, 1);
    cpu.at(3 * kMs);
    cpu.epilogue(1, 22, yields ? FTRACE_OFFCPU_NEXT_PERIOD : FTRACE_OFFCPU_EXHAUSTED).dispatch(2);
    cpu.at(20 * kMs).record(FTrace_EXT_refill, 1);
    cpu.at(21 * kMs).epilogue(2, 11).dispatch(1).at(30 * kMs).stop();
    explain_all();
    const std::string text = why_text(input());
    EXPECT_NE(text.find(yields ? "\n  until its next period: it had yielded"
                               : "\n  until its next period: its budget was used up"),
              text.npos)
        << text;
    EXPECT_NE(text.find("\n  after it had quota or budget again"), text.npos) << text;
    EXPECT_EQ(wait_line(input(), why.longest_waits.at(0)),
              yields ? "dl (11) waited 17.00 ms for CPU 0 from 0.003000 s: it had yielded, and "
                       "waited for its next period"
                     : "dl (11) waited 17.00 ms for CPU 0 from 0.003000 s: it had used up its "
                       "budget, and waited for its next period");
    const json waiting = thread(report(), 11)["waiting"];
    const json period = {{"holder_tid", nullptr},
                         {"holder", nullptr},
                         {"and_others", false},
                         {"ns", 17 * kMs},
                         {"after_ns", {{yields ? "period" : "budget", 17 * kMs}}}};
    const json hog = {{"holder_tid", 22},
                      {"holder", "hog"},
                      {"and_others", false},
                      {"ns", 1 * kMs},
                      {"after_ns", {{"refill", 1 * kMs}}}};
    EXPECT_EQ(waiting.size(), 2u) << waiting;
    EXPECT_EQ(std::count(waiting.begin(), waiting.end(), period), 1) << waiting;
    EXPECT_EQ(std::count(waiting.begin(), waiting.end(), hog), 1) << waiting;
  }
}

/// It blocks with its budget used up. It would wait behind `hog` if it had some.
TEST_F(WhyStates, AThreadThatIsWokenWithoutBudgetWaitsBehindNobodyUntilItHasSome) {
  for (const uint32_t held : {FTRACE_OFFCPU_EXHAUSTED, FTRACE_OFFCPU_THROTTLED}) {
    trace = TraceBuilder(dir.path());
    trace.json(R"({"version": 1, "all_threads": true, "sees_refills": true})");
    auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "dl").id(2, 22, 22, "hog").dispatch(1, 1);
    cpu.at(3 * kMs).sleep(1, 22).dispatch(2);
    cpu.at(4 * kMs).activate(1, 22, FTRACE_WAKER_TASK | held << 4);
    cpu.at(20 * kMs).record(FTrace_EXT_refill, 1);
    cpu.at(21 * kMs).epilogue(2, 11).dispatch(1).at(30 * kMs).stop();
    explain_all();
    std::map<json, json> after; // by holder
    const json woken = thread(report(), 11);
    for (const json &one : woken["waiting"])
      after[one["holder_tid"]] = one["after_ns"];
    const char *why_not = held == FTRACE_OFFCPU_EXHAUSTED ? "budget" : "throttling";
    EXPECT_EQ(after, (std::map<json, json>{{nullptr, {{why_not, 16 * kMs}}},
                                           {22, {{"refill", 1 * kMs}}}}));
    const LongWait &block = why.longest_blocks.at(0);
    EXPECT_EQ(block.end - block.start, 1 * kMs);
    EXPECT_EQ(tid_of(input().catalog, block.by), 22u) << "who woke it";
    ASSERT_EQ(why.wakes.size(), 1u);
    EXPECT_EQ(why.wakes[0].count, 1u);
    EXPECT_EQ(why.wakes[0].measured, 0u) << "a wait for budget is no wakeup latency";
    EXPECT_EQ(why.wait_lengths[size_t(WaitKind::wakeup)].count(), 0u);
  }
}

/// What woke it before the loss has nothing to do with the second wakeup.
TEST_F(WhyStates, AThreadThatIsWokenWithoutBudgetAfterALossHasItsOwnWaker) {
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "dl").id(2, 22, 22, "a").id(3, 33, 33, "b");
  cpu.dispatch(1).at(100).sleep(1, 22).dispatch(2).at(200).activate(1, 22);
  cpu.at(250).blackout_start().at(300).blackout_end(3).at(400).dispatch(3);
  cpu.at(500).activate(1, 33, FTRACE_WAKER_TASK | FTRACE_OFFCPU_EXHAUSTED << 4);
  cpu.at(600).record(FTrace_EXT_refill, 1).epilogue(3, 11).dispatch(1).at(700).stop();
  explain_all();
  std::map<uint32_t, uint64_t> wakeups; // by waker
  for (const WakeSum &sum : why.wakes)
    wakeups[tid_of(input().catalog, sum.waker)] += sum.count;
  EXPECT_EQ(wakeups, (std::map<uint32_t, uint64_t>{{22, 1}, {33, 1}}));
}

TEST_F(WhyStates, AFrozenThreadIsNamedSo) {
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "a").id(2, 22, 22, "sh").dispatch(1);
  cpu.at(1 * kMs).record(FTrace_EVT_task_sleep | FTRACE_CALL_CODE(FTRACE_CALL_NONE), 1,
                         22 | FTRACE_OFFCPU_FROZEN << FTRACE_REASON_SHIFT |
                             FTRACE_CALL_PAR2(FTRACE_CALL_NONE));
  cpu.dispatch(2).at(5 * kMs).activate(1, 22).at(6 * kMs).sleep(2, 11).dispatch(1).at(10 * kMs);
  cpu.stop();
  explain_all();
  EXPECT_EQ(block_line(input(), why.longest_blocks.at(0)),
            "a (11) was blocked 4.000 ms from 0.001000 s (frozen (cgroup freezer)): woken by sh "
            "(22)");
  const std::string text = why_text(input());
  EXPECT_NE(text.find("\n  frozen (cgroup freezer)"), text.npos) << text;
}

TEST_F(WhyStates, AFrozenThreadIsBlockedForOneReasonWhateverItsCall) {
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "a").id(2, 22, 22, "sh").dispatch(1);
  for (const uint16_t call : {FTRACE_CALL_NATIVE + 7, FTRACE_CALL_NATIVE + 230}) {
    cpu.record(FTrace_EVT_task_sleep | FTRACE_CALL_CODE(call), 1,
               22 | FTRACE_OFFCPU_FROZEN << FTRACE_REASON_SHIFT | FTRACE_CALL_PAR2(call));
    cpu.dispatch(2).at(call * kMs).activate(1, 22).sleep(2, 11).dispatch(1);
  }
  cpu.stop();
  explain_all();
  std::erase_if(why.blocks, [](const BlockSum &sum) { return sum.thread != 0; });
  ASSERT_EQ(why.blocks.size(), 1u);
  EXPECT_EQ(why.blocks[0].count, 2u);
  EXPECT_EQ(why.blocks[0].block.call, FTRACE_CALL_UNKNOWN);
}

// As the chunk of a flight recorder starts, and as older versions recorded it.
TEST_F(WhyStates, AThreadThatWaitsWhenTheTraceBeginsWasNotSeenToBeWoken) {
  const uint32_t warming = uint32_t(ThreadState::Warming);
  for (const auto &[code, par2] : std::vector<std::pair<uint16_t, uint32_t>>{
           {FTrace_EXT_snapshot, warming | FTRACE_OFFCPU_WAITED << FTRACE_REASON_SHIFT},
           {FTrace_EXT_state, warming | FTRACE_OFFCPU_WAITED << FTRACE_REASON_SHIFT},
           {FTrace_EXT_snapshot, warming},
           {FTrace_EXT_state, warming}}) {
    trace = TraceBuilder(dir.path());
    auto &cpu = trace.cpu(0).at(0).id(1, 11, 11, "a").id(2, 22, 22, "hog").record(code, 1, par2);
    cpu.snapshot(2, 1, 0).at(10 * kMs).start().at(30 * kMs);
    cpu.epilogue(2, 11).dispatch(1).at(40 * kMs).stop();
    explain_all();
    const bool is_woken = code == FTrace_EXT_state && par2 == warming;
    const std::string text = why_text(input());
    EXPECT_EQ(text.find("\n  since before the trace") != text.npos, !is_woken) << text;
    EXPECT_EQ(text.find("\n  after a wakeup") != text.npos, is_woken) << text;
    const std::string line = wait_line(input(), why.longest_waits.at(0));
    EXPECT_EQ(line.find("and already before: why is not known") != line.npos, !is_woken) << line;
    const json waits = thread(report(), 11)["waiting"];
    EXPECT_EQ(waits.at(0)["after_ns"],
              (json{{is_woken ? "wakeup" : "unknown", waits.at(0)["ns"]}}));
  }
}

TEST_F(WhyStates, AZombieIsNotBlocked) {
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "zombie").id(2, 22, 22, "b");
  cpu.snapshot(1, OVNI_THREAD_DEAD, 0, FTRACE_OFFCPU_DEAD).dispatch(2).at(1000).stop();
  explain_all();
  const json zombie = thread(report(), 11);
  EXPECT_EQ(zombie["blocked_ns"], 0);
  EXPECT_EQ(zombie["life_ns"], 0);
  EXPECT_TRUE(zombie["blocked"].empty());
}

// As a chunk starts that is read alone.
TEST_F(WhyStates, AThreadThatIsRecordedAsThrottledIsNotPreempted) {
  const uint32_t throttled = uint32_t(ThreadState::Cooling) | FTRACE_OFFCPU_THROTTLED
                                                                  << FTRACE_REASON_SHIFT;
  for (const uint16_t given : {FTrace_EXT_snapshot, FTrace_EXT_state}) {
    TraceBuilder trace(path);
    auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "a").record(given, 1, throttled);
    cpu.at(50).dispatch(1).at(100).stop();
    trace.write();
    source = open_trace({{path}}, sink);
    const Explanation found = explain(*source, {});
    ASSERT_EQ(found.waits.size(), 1u) << given;
    EXPECT_EQ(found.waits[0].kind, WaitKind::throttling) << given;
  }
}

TEST_F(WhyStates, TheWaitOfAProgramForItsStartIsLeftOut) {
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "ovnitrace").create(1, 11).dispatch(1);
  block(cpu.at(10), 1, FTRACE_CALL_NATIVE, 0).at(50).activate(1, 99).at(60).dispatch(1);
  cpu.at(70).record(FTrace_EXT_exec, 1, 11);
  block(cpu.at(80), 1, FTRACE_CALL_NATIVE, 0).at(95).activate(1, 99).dispatch(1).at(100).stop();
  trace.write();
  source = open_trace({{dir.path()}}, sink);
  const Explanation whole = explain(*source, {});
  EXPECT_EQ(whole.threads[0].blocked, 55u);
  EXPECT_EQ(whole.threads[0].waiting, 10u);
  source = open_trace({{dir.path()}}, sink);
  const Explanation without = explain(*source, {}, {0});
  EXPECT_EQ(without.threads[0].blocked, 15u);
  EXPECT_EQ(without.threads[0].waiting, 0u) << "ovnitrace woke it";
  EXPECT_TRUE(without.waits.empty()) << "sums close";
  EXPECT_EQ(without.threads[0].running, whole.threads[0].running);
}

/// As with --control, which may start after the execve: nothing says that the program waits.
TEST_F(WhyStates, AProgramWithoutItsCreationHasNoStartGate) {
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "app").dispatch(1);
  block(cpu.at(10), 1, FTRACE_CALL_NATIVE, 0).at(50).activate(1, 99).dispatch(1).at(100).stop();
  trace.write();
  source = open_trace({{dir.path()}}, sink);
  EXPECT_EQ(explain(*source, {}, {0}).threads[0].blocked, 40u);
}

} // namespace
} // namespace ovnitrace
