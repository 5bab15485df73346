// SPDX-License-Identifier: BSD-2-Clause
// `ovnitrace why`: who held a CPU, who ended a block, and how that is said.
#include "emulator/open/open_trace.h"
#include "emulator/slices/interrupts.h"
#include "emulator/why/explainer.h"
#include "emulator/why/stories.h"
#include "emulator/why/why_report.h"
#include "emulator/why/words.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <sstream>

namespace ovnitrace {
namespace {

using nlohmann::json;
using test::ChunkBuilder;
using test::TraceBuilder;

constexpr uint64_t kMs = 1000000;
/// x86-64's
constexpr uint32_t kEpollWait = FTRACE_CALL_NATIVE + 232, kFutex = FTRACE_CALL_NATIVE + 202,
                   kNanosleep = FTRACE_CALL_NATIVE + 35;

class Why : public ::testing::Test {
protected:
  Why() : trace(dir.path()) {
    trace.json(R"({"version": 1, "machine": "x86_64", "all_threads": true})");
  }

  /// Blocks in a system call.
  static ChunkBuilder &block(ChunkBuilder &cpu, uint16_t context, uint32_t call, uint32_t next = 0,
                             uint32_t reason = FTRACE_OFFCPU_SLEEP) {
    return cpu.record(uint16_t(FTrace_EVT_task_sleep | FTRACE_CALL_CODE(call)), context,
                      next | reason << FTRACE_REASON_SHIFT | FTRACE_CALL_PAR2(call));
  }
  static ChunkBuilder &affinity(ChunkBuilder &cpu, uint16_t context, uint32_t cpus) {
    return cpu.record(FTrace_EXT_affinity, context, cpus);
  }
  void explain_all(const Cut &cut = {}) {
    trace.write();
    source = open_trace({{dir.path()}}, sink);
    why = explain(*source, cut);
    info = read_trace_info(dir.path(), sink);
    stacks.emplace(source->catalog(), sink);
  }
  WhyInput input() { return {path, info, source->catalog(), *stacks, why}; }
  json report() {
    std::string text;
    write_why_json(input(), [&](std::string_view part) { text += part; });
    return json::parse(text);
  }
  /// Of the JSON: the thread of this tid.
  static json thread(const json &report, uint32_t tid) {
    for (const json &thread : report["threads"])
      if (thread["tid"] == tid)
        return thread;
    throw std::runtime_error("no such thread");
  }

  test::TempDir dir;
  const std::string path = dir.path();
  TraceBuilder trace;
  test::CollectingSink sink;
  std::unique_ptr<EventSource> source;
  Explanation why;
  TraceInfo info;
  std::optional<Stacks> stacks;
};

TEST_F(Why, AWaitSaysWhoWokeTheThreadWhoRanThereAndWhichCpuWasIdle) {
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "worker").id(2, 22, 22, "spinner");
  affinity(cpu, 1, 0b11).dispatch(1);
  block(cpu.at(1 * kMs), 1, kEpollWait, 22).dispatch(2);
  cpu.at(7 * kMs).epilogue(2, 11).dispatch(1).at(10 * kMs).stop();
  auto &other =
      trace.cpu(1).at(0).start().id(1, 33, 33, "main").id(2, 11, 11, "worker").dispatch(1);
  other.at(2 * kMs).activate(2, 33).at(4 * kMs).sleep(1, 0).at(10 * kMs).stop();
  explain_all();
  ASSERT_EQ(why.longest_waits.size(), 2u) << "and the preempted spinner";
  EXPECT_EQ(wait_story(input(), why.longest_waits[0]),
            "worker (11) waited 5.000 ms for CPU 0 at 0.002000 s: woken by main (33) (epoll_wait), "
            "spinner (22) ran there, CPU 1 was idle for 3.000 ms of it");
  EXPECT_EQ(wait_story(input(), why.longest_waits[1]),
            "spinner (22) waited 3.000 ms for CPU 0 at 0.007000 s: preempted by worker (11), "
            "which ran there, and it waits still");
  EXPECT_EQ(block_story(input(), why.longest_blocks[0]),
            "main (33) was blocked 6.000 ms at 0.004000 s (call not known): nobody has woken it in "
            "this time");
  EXPECT_EQ(block_story(input(), why.longest_blocks[1]),
            "worker (11) was blocked 1.000 ms at 0.001000 s (epoll_wait): woken by main (33)");
  const json worker = thread(report(), 11);
  EXPECT_EQ(worker["waiting"].size(), 1u);
  EXPECT_EQ(worker["waiting"][0]["holder_tid"], 22);
  EXPECT_EQ(worker["waiting"][0]["holder"], "spinner");
  EXPECT_EQ(worker["waiting"][0]["ns"], 5 * kMs);
  EXPECT_EQ(worker["idle_elsewhere_ns"], 3 * kMs);
  EXPECT_EQ(worker["blocked"][0]["call"], "epoll_wait");
  EXPECT_EQ(worker["blocked"][0]["waker_tid"], 33);
  EXPECT_EQ(worker["blocked"][0]["waker"], "main");
  EXPECT_EQ(worker["blocked"][0]["ns"], 1 * kMs);
  EXPECT_EQ(worker["blocked"][0]["count"], 1);
  EXPECT_EQ(worker["running_ns"], 4 * kMs);
}

TEST_F(Why, OnlyATraceOfAllThreadsKnowsThatACpuIsIdle) {
  for (const bool all : {true, false}) {
    trace = TraceBuilder(dir.path());
    trace.json(all ? R"({"version": 1, "all_threads": true})" : R"({"version": 1})");
    auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "a");
    cpu.dispatch(1).sleep(1, 0).at(100).activate(1, 0, FTRACE_WAKER_HARDIRQ);
    cpu.at(300).dispatch(1).sleep(1, 77).at(400).activate(1, 0, FTRACE_WAKER_HARDIRQ);
    cpu.at(450).dispatch(1).at(500).stop();
    explain_all();
    const json waiting = thread(report(), 11)["waiting"];
    EXPECT_EQ(waiting[0]["ns"], 200);
    EXPECT_EQ(waiting[0]["holder_tid"], all ? json(0) : json());
    EXPECT_EQ(waiting[0]["holder"], all ? "idle" : "no traced thread");
    EXPECT_EQ(waiting[1]["ns"], 50);
    EXPECT_EQ(waiting[1]["holder_tid"], 77) << "named by who left, and not traced";
  }
}

TEST_F(Why, ThreadsThatAreNotTracedAreOneByTheFirst) {
  trace.json(R"({"version": 1, "peers": [{"tid": 77, "pid": 77, "name": "cron"},
                                         {"tid": 88, "pid": 88, "name": "sh"},
                                         {"tid": 89, "pid": 89, "name": "sh"}]})");
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "a").dispatch(1);
  uint64_t time = 0, wait = 1000;
  for (const uint32_t other : {77u, 88u, 89u, 99u, 100u}) {
    cpu.at(time + 1000).epilogue(1, other).at(time + 1000 + wait).dispatch(1);
    time += 1000 + wait;
    wait /= 2;
  }
  cpu.at(time + 1000).stop();
  explain_all();
  std::string tree = why_text(input());
  tree.erase(0, tree.find("    held by:"));
  std::vector<std::string> lines;
  std::istringstream in(tree);
  for (std::string line; lines.size() < 4 && std::getline(in, line);)
    lines.push_back(line.substr(0, line.find("  ", line.find_first_not_of(' '))));
  EXPECT_EQ(lines, (std::vector<std::string>{
                       "    held by: threads that are not traced, by the first",
                       "      cron (77)",
                       "      sh (2 threads)",
                       "      without a name (2 threads)",
                   }));
}

TEST_F(Why, OfANewThreadTheCpuIsTheOneThatItGets) {
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "a").dispatch(1).at(100);
  cpu.id(2, 12, 11, "b", 100).create(2, 12).activate_new(2, 11).at(150).epilogue(1, 12);
  cpu.dispatch(2).at(200).stop();
  explain_all();
  const json waiting = thread(report(), 12)["waiting"];
  ASSERT_EQ(waiting.size(), 1u);
  EXPECT_EQ(waiting[0]["holder_tid"], 11);
  EXPECT_EQ(waiting[0]["ns"], 50);
}

TEST_F(Why, WhoHadACpuLongAgoIsNotKnown) {
  constexpr uint32_t kSwitches = 5000;
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "a").id(3, 33, 33, "c").dispatch(1).at(100);
  cpu.id(2, 12, 11, "b", 100).create(2, 12).activate_new(2, 11);
  for (uint32_t n = 1; n <= kSwitches; n++)
    cpu.at(100 + n).epilogue(n % 2 ? 1 : 3, n % 2 ? 33 : 11).dispatch(n % 2 ? 3 : 1);
  cpu.at(101 + kSwitches).epilogue(1, 12).dispatch(2).at(9000).stop();
  explain_all();
  uint64_t known = 0, unknown = 0;
  const json new_thread = thread(report(), 12);
  for (const json &wait : new_thread["waiting"])
    (wait["holder"] == "not known" ? unknown : known) += wait["ns"].get<uint64_t>();
  EXPECT_EQ(known + unknown, kSwitches + 1);
  EXPECT_EQ(known, 1024u) << "what is remembered";
}

TEST_F(Why, AThreadOnTheWayToAnotherCpuWaitsForBoth) {
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "a").id(2, 22, 22, "b").dispatch(1);
  cpu.at(50).sleep(1, 22).dispatch(2).at(100).activate(1, 22).at(160).migrate(1, 1).at(500).stop();
  auto &other = trace.cpu(1).at(0).start().id(1, 33, 33, "c").id(2, 11, 11, "a").dispatch(1);
  other.at(300).sleep(1, 11).dispatch(2).at(500).stop();
  explain_all();
  const json waiting = thread(report(), 11)["waiting"];
  ASSERT_EQ(waiting.size(), 2u);
  EXPECT_EQ(waiting[0]["holder_tid"], 33);
  EXPECT_EQ(waiting[0]["ns"], 140);
  EXPECT_EQ(waiting[1]["holder_tid"], 22);
  EXPECT_EQ(waiting[1]["ns"], 60);
}

TEST_F(Why, AnInterruptIsNamedAfterWhatItStandsFor) {
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "a").id(2, 22, 22, "b").dispatch(1);
  uint64_t time = 100;
  const auto wake_in = [&](uint32_t call, uint32_t context, uint32_t interrupt) {
    block(cpu.at(time), 1, call, 22).dispatch(2).at(time + 10);
    time += 20;
    if (interrupt)
      cpu.record(FTrace_EVT_interrupt_start, uint16_t(interrupt), 22);
    cpu.activate(1, 22, context);
    if (interrupt)
      cpu.record(FTrace_EVT_interrupt_end, uint16_t(interrupt), 22);
    cpu.epilogue(2, 11).dispatch(1);
  };
  wake_in(kNanosleep, FTRACE_WAKER_HARDIRQ, 0);
  wake_in(kEpollWait, FTRACE_WAKER_HARDIRQ, 0);
  wake_in(kEpollWait, FTRACE_WAKER_HARDIRQ, FTRACE_INTERRUPT_VECTOR | 0xec);
  wake_in(kEpollWait, FTRACE_WAKER_HARDIRQ, 17);
  wake_in(kEpollWait, FTRACE_WAKER_SOFTIRQ, FTRACE_INTERRUPT_SOFT | 3);
  wake_in(kFutex, FTRACE_WAKER_SOFTIRQ, FTRACE_INTERRUPT_SOFT | 1);
  wake_in(kFutex, FTRACE_WAKER_TASK, 0);
  cpu.at(time += 10).stop();
  explain_all();
  std::map<std::string, std::string> wakers; // several of a call: in the order of their names
  const json all = thread(report(), 11);
  for (const json &block : all["blocked"])
    wakers[block["call"].get<std::string>() + " " + block["waker"].get<std::string>()] =
        block["waker_tid"].dump();
  EXPECT_EQ(wakers, (std::map<std::string, std::string>{
                        {"nanosleep timer", "null"},
                        {"epoll_wait interrupt", "null"},
                        {"epoll_wait timer", "null"},
                        {"epoll_wait I/O", "null"},
                        {"epoll_wait softirq while b ran", "null"},
                        {"futex timer", "null"},
                        {"futex b", "22"},
                    }));
}

TEST_F(Why, ASoftirqNamesWhoRanAlsoWhereThatThreadIsNotTraced) {
  trace.json(R"({"version": 1, "machine": "x86_64",
                 "peers": [{"tid": 77, "pid": 77, "name": "client"}]})");
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "a").dispatch(1);
  uint64_t time = 1000;
  const auto wake_in = [&](uint32_t call, uint32_t ran) {
    block(cpu.at(time), 1, call).at(time + 100).activate(1, ran, FTRACE_WAKER_SOFTIRQ).dispatch(1);
    time += 1000;
  };
  wake_in(kEpollWait, 77);
  wake_in(kEpollWait, 77);
  wake_in(kEpollWait, 88);
  wake_in(kEpollWait, 0);
  wake_in(kFutex, 77);
  cpu.at(time).stop();
  explain_all();
  std::map<std::string, uint64_t> wakers;
  for (const BlockSum &sum : why.blocks)
    wakers[block_name(input(), sum.block) + ": " + who_text(input(), sum.waker, sum.thread)] =
        sum.count;
  EXPECT_EQ(wakers, (std::map<std::string, uint64_t>{
                        {"epoll_wait: a softirq while client (77) ran", 2},
                        {"epoll_wait: a softirq while thread 88 ran", 1},
                        {"epoll_wait: an interrupt", 1},
                        {"futex: an interrupt", 1},
                    }))
      << "idle CPUs send nothing, and no packet ends a futex";
  EXPECT_EQ(thread(report(), 11)["blocked"][0]["waker"], "softirq while client ran");
}

TEST_F(Why, AFutexHasItsWaitsByWhoEndedThem) {
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 10, "a").id(2, 22, 10, "b").dispatch(1);
  const auto wait = [&](uint64_t from, uint64_t to, uint32_t end) {
    cpu.at(from).record(FTrace_EVT_mutex_wait, 1, 0x1000);
    block(cpu, 1, kFutex, 22).dispatch(2).at(to).activate(1, 22).epilogue(2, 11).dispatch(1);
    cpu.record(FTrace_EVT_mutex_lock, 1, 0x1000 | end);
  };
  wait(100, 150, FTRACE_FUTEX_PLAIN);
  wait(200, 230, FTRACE_FUTEX_PLAIN);
  cpu.at(300).record(FTrace_EVT_mutex_wait, 1, 0x2000).at(305);
  cpu.record(FTrace_EVT_mutex_lock, 1, 0x2000 | FTRACE_FUTEX_PLAIN | FTRACE_FUTEX_GAVE_UP);
  cpu.at(400).record(FTrace_EVT_mutex_wait, 1, 0x3000).at(500).stop();
  explain_all();
  const json locks = report()["locks"];
  ASSERT_EQ(locks.size(), 2u) << "a wait that has not ended is none";
  EXPECT_EQ(locks[0]["futex"], 0x1000);
  EXPECT_EQ(locks[0]["pid"], 10);
  EXPECT_EQ(locks[0]["count"], 2);
  EXPECT_EQ(locks[0]["ns"], 80);
  EXPECT_EQ(locks[0]["max_ns"], 50);
  EXPECT_EQ(locks[0]["waits"][0]["waker_tid"], 22);
  EXPECT_EQ(locks[1]["gave_up"], 1);
  EXPECT_EQ(locks[1]["waits"][0]["waker"], "nobody yet");
  EXPECT_NE(why_text(input()).find("nobody: it did not block"), std::string::npos);
}

TEST_F(Why, WhoWakesWhomHasHowLateThatWas) {
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "a").id(2, 22, 22, "b").dispatch(1);
  for (const uint64_t late : {10, 30}) {
    cpu.at(100 * late).sleep(1, 22).dispatch(2).at(100 * late + 50).activate(1, 22);
    cpu.at(100 * late + 50 + late).epilogue(2, 11).dispatch(1);
  }
  cpu.at(4000).sleep(1, 22).dispatch(2).at(4100).activate(1, 22).at(4200).stop();
  explain_all();
  ASSERT_EQ(why.wakes.size(), 1u);
  EXPECT_EQ(why.wakes[0].count, 3u);
  EXPECT_EQ(why.wakes[0].late, 40u) << "the last one has no CPU yet";
  EXPECT_EQ(why.wakes[0].late_max, 30u);
}

TEST_F(Why, ACutKeepsWhoIsToBlame) {
  auto &cpu = trace.cpu(0).at(1000).start().id(1, 11, 11, "a").id(2, 22, 22, "b").dispatch(1);
  cpu.at(1050)
      .sleep(1, 22)
      .dispatch(2)
      .at(1100)
      .activate(1, 22)
      .at(1900)
      .epilogue(2, 11)
      .dispatch(1)
      .at(2000)
      .stop();
  Cut cut;
  cut.from = 600;
  cut.to = 800;
  cut.tids = {11};
  explain_all(cut);
  const json all = report();
  ASSERT_EQ(all["threads"].size(), 1u);
  EXPECT_EQ(all["threads"][0]["life_ns"], 200);
  EXPECT_EQ(all["threads"][0]["waiting"][0]["holder_tid"], 22) << "who is not in the cut";
  EXPECT_EQ(all["threads"][0]["waiting"][0]["ns"], 200);
  EXPECT_EQ(wait_story(input(), why.longest_waits.at(0)),
            "a (11) waited 200 ns for CPU 0 at 0.000001 s, and already before: woken by b (22) "
            "(call not known), b (22) ran there, and it waits still");
}

TEST_F(Why, WhatStartedBeforeTheCutIsMarkedAndKeepsItsCause) {
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "a").id(2, 22, 22, "b").dispatch(1);
  block(cpu.at(1 * kMs), 1, kNanosleep, 22).dispatch(2);
  cpu.at(3 * kMs).activate(1, 22, FTRACE_WAKER_HARDIRQ).at(6 * kMs).epilogue(2, 11).dispatch(1);
  cpu.at(9 * kMs).stop();
  const auto lines = [&](uint64_t from) {
    Cut cut;
    cut.from = from;
    cut.tids = {11};
    explain_all(cut);
    std::vector<std::string> lines;
    for (const Story &block : why.longest_blocks)
      lines.push_back(block_story(input(), block));
    for (const Story &wait : why.longest_waits)
      lines.push_back(wait_story(input(), wait));
    return lines;
  };
  const std::string end = "woken by a timer (nanosleep), b (22) ran there";
  EXPECT_EQ(lines(2 * kMs), (std::vector<std::string>{
                                "a (11) was blocked 1.000 ms at 0.002000 s, and already before "
                                "(nanosleep): woken by a timer",
                                "a (11) waited 3.000 ms for CPU 0 at 0.003000 s: " + end,
                            }));
  EXPECT_EQ(report()["blocks"][0]["starts"], false);
  EXPECT_EQ(report()["waits"][0]["starts"], true);
  EXPECT_EQ(lines(3 * kMs), (std::vector<std::string>{
                                "a (11) waited 3.000 ms for CPU 0 at 0.003000 s: " + end,
                            }))
      << "the block is over, but the wait starts here";
  EXPECT_EQ(why.wakes.at(0).waker, Who(Who::Kind::interrupt, uint32_t(InterruptSource::timer)));
  EXPECT_EQ(lines(4 * kMs),
            (std::vector<std::string>{
                "a (11) waited 2.000 ms for CPU 0 at 0.004000 s, and already before: " + end,
            }));
  EXPECT_EQ(report()["waits"][0]["starts"], false);
  EXPECT_EQ(why.threads[0].waiting, 2 * kMs);
}

TEST_F(Why, NamesAreOnlyNames) {
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "a\x1b[31m\n").id(2, 22, 22, "\xff");
  cpu.dispatch(2).at(100).activate(1, 22).at(300).epilogue(2, 11).dispatch(1).at(400).stop();
  explain_all();
  const std::string text = why_text(input());
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\xff'), std::string::npos);
  EXPECT_NE(text.find("a?[31m?"), std::string::npos) << text;
  EXPECT_NO_THROW(report());
}

} // namespace
} // namespace ovnitrace
