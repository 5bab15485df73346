// SPDX-License-Identifier: BSD-2-Clause
// `ovnitrace why`: who held a CPU, what a cut keeps, and how that is said.
#include "emulator/slices/interrupts.h"
#include "emulator/why/wait_lines.h"
#include "tests/unit/support/count_in.h"
#include "tests/unit/support/why_rig.h"

namespace ovnitrace {
namespace {

using nlohmann::json;
using test::kEpollWait;
using test::kMs;
using test::kNanosleep;
using test::TraceBuilder;

class Why : public test::WhyRig {};

TEST_F(Why, AWaitNamesTheWakerTheHolderAndIdleCpus) {
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "worker").id(2, 22, 22, "spinner");
  affinity(cpu, 1, 0b11).dispatch(1);
  block(cpu.at(1 * kMs), 1, kEpollWait, 22).dispatch(2);
  cpu.at(7 * kMs).epilogue(2, 11).dispatch(1).at(10 * kMs).stop();
  auto &other =
      trace.cpu(1).at(0).start().id(1, 33, 33, "main").id(2, 11, 11, "worker").dispatch(1);
  other.at(2 * kMs).activate(2, 33).at(4 * kMs).sleep(1, 0).at(10 * kMs).stop();
  explain_all();
  ASSERT_EQ(why.longest_waits.size(), 2u) << "and the preempted spinner";
  EXPECT_EQ(
      wait_line(input(), why.longest_waits[0]),
      "worker (11) waited 5.000 ms for CPU 0 from 0.002000 s: woken by main (33) (epoll_wait), "
      "spinner (22) ran there, CPU 1 was idle for 3.000 ms of it");
  EXPECT_EQ(wait_line(input(), why.longest_waits[1]),
            "spinner (22) waited 3.000 ms for CPU 0 from 0.007000 s: preempted by worker (11), "
            "which ran there, and it still waits");
  EXPECT_EQ(
      block_line(input(), why.longest_blocks[0]),
      "main (33) was blocked 6.000 ms from 0.004000 s (call not known): nobody has woken it in "
      "this time");
  EXPECT_EQ(block_line(input(), why.longest_blocks[1]),
            "worker (11) was blocked 1.000 ms from 0.001000 s (epoll_wait): woken by main (33)");
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

TEST_F(Why, AWaitSaysHowLongOnlyForbiddenCpusWereIdle) {
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "pinned").id(2, 22, 22, "spinner");
  affinity(cpu, 1, 0b01).dispatch(1);
  block(cpu.at(1 * kMs), 1, kEpollWait, 22).dispatch(2);
  cpu.at(2 * kMs).activate(1, 22).at(7 * kMs).epilogue(2, 11).dispatch(1).at(10 * kMs).stop();
  auto &other = trace.cpu(1).at(0).start().id(1, 33, 33, "main").dispatch(1);
  other.at(4 * kMs).sleep(1, 0).at(10 * kMs).stop();
  explain_all();
  const json wait = report()["waits"][0];
  EXPECT_EQ(wait["tid"], 11);
  EXPECT_EQ(wait["ns"], 5 * kMs);
  EXPECT_EQ(wait["idle_elsewhere_ns"], 0);
  EXPECT_EQ(wait["idle_forbidden_ns"], 3 * kMs);
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
    EXPECT_EQ(waiting[0]["ns"], all ? 200 : 250);
    EXPECT_EQ(waiting[0]["holder_tid"], all ? json(0) : json());
    EXPECT_EQ(waiting[0]["holder"], all ? "idle" : "no traced thread");
    if (!all)
      continue;
    EXPECT_EQ(waiting[1]["ns"], 50);
    EXPECT_EQ(waiting[1]["holder_tid"], 77) << "named by who left, and not traced";
  }
}

TEST_F(Why, NewThreadWaitsForTheCpuThatItGets) {
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "a").dispatch(1).at(100);
  cpu.id(2, 12, 11, "b", 100).create(2, 12).activate_new(2, 11).at(150).epilogue(1, 12);
  cpu.dispatch(2).at(200).stop();
  explain_all();
  const json waiting = thread(report(), 12)["waiting"];
  ASSERT_EQ(waiting.size(), 1u);
  EXPECT_EQ(waiting[0]["holder_tid"], 11);
  EXPECT_EQ(waiting[0]["ns"], 50);
}

TEST_F(Why, HoldersLongAgoAreNotKnown) {
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

TEST_F(Why, TheFirstWaitOfANewThreadIsForTheCpuThatItGets) {
  auto &cpu = trace.cpu(1).at(50).id(1, 11, 11, "a").id(2, 12, 11, "b", 200);
  cpu.snapshot(1, 1, 1).at(100).start().at(200).create(2, 12).activate_new(2, 11);
  cpu.at(300).sleep(1, 12).dispatch(2).at(400).stop();
  explain_all();
  EXPECT_EQ(report()["waits"][0]["cpu"], 1);
  EXPECT_EQ(report()["waits"][0]["holders"][0]["cpu"], 1);
}

/// The thread waits for CPU 0 nearly all of the time. CPU 1, where it ends up, was idle meanwhile.
TEST_F(Why, AMovedWaitNamesTheCpuForWhichItWaitedLongest) {
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "a").id(2, 22, 22, "hog");
  affinity(cpu, 1, 0b01).dispatch(1).at(1 * kMs).epilogue(1, 22).dispatch(2);
  cpu.at(9 * kMs).migrate(1, 1).at(20 * kMs).stop();
  auto &other = trace.cpu(1).at(0).start().id(1, 33, 33, "late").id(2, 11, 11, "a").dispatch(1);
  other.at(2 * kMs).sleep(1, 0).at(8 * kMs).activate(1, 0, FTRACE_WAKER_HARDIRQ).dispatch(1);
  other.at(10 * kMs).epilogue(1, 11).dispatch(2).at(20 * kMs).stop();
  explain_all();
  const LongWait *moved = nullptr;
  for (const LongWait &wait : why.longest_waits)
    if (source->catalog().threads[wait.thread].tid == 11)
      moved = &wait;
  ASSERT_TRUE(moved);
  EXPECT_EQ(wait_line(input(), *moved),
            "a (11) waited 9.000 ms, 8.000 ms of it for CPU 0, from 0.001000 s: preempted by hog "
            "(22), which ran there, CPU 1, which it may not use, was idle for 6.000 ms of it");
  for (const json &wait : report()["waits"]) {
    if (wait["tid"] != 11)
      continue;
    EXPECT_EQ(wait["cpu"], 0);
    EXPECT_EQ(wait["cpu_ns"], 8 * kMs);
    EXPECT_EQ(wait["holders"][0]["holder"], "hog");
    EXPECT_EQ(wait["holders"][0]["cpu"], 0);
    EXPECT_EQ(wait["holders"][1]["holder"], "late");
    EXPECT_EQ(wait["holders"][1]["cpu"], 1);
  }
}

TEST_F(Why, PercentagesReferToTheTimeInTheHeader) {
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "main").dispatch(1).at(600 * kMs);
  cpu.id(2, 12, 11, "HIGH", 600 * kMs).create(2, 12).activate_new(2, 11).at(610 * kMs);
  cpu.epilogue(1, 12).dispatch(2).at(700 * kMs).end(2, 12).dispatch(1).at(1000 * kMs).stop();
  Cut cut;
  cut.tids = {12};
  explain_all(cut);
  const std::string high = why_text(input());
  EXPECT_NE(high.find("\nHIGH (12), 1.000 s; 100 % is the time it was alive, 100.0 ms\n"),
            std::string::npos)
      << high;
  EXPECT_NE(high.find("90.00 ms  90.0 %"), std::string::npos) << high;
  cut.tids = {11};
  explain_all(cut);
  const std::string main = why_text(input());
  EXPECT_NE(main.find("\nmain (11), 1.000 s\n"), std::string::npos) << main;
  EXPECT_NE(main.find("910.0 ms  91.0 %"), std::string::npos) << main;
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
  EXPECT_EQ(wait_line(input(), why.longest_waits.at(0)),
            "a (11) waited 200 ns for CPU 0 from 0.000001 s, and already before: woken by b (22) "
            "(call not known), b (22) ran there, and it still waits");
}

TEST_F(Why, WaitFromBeforeTheCutIsMarkedAndKeepsItsCause) {
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
    for (const LongWait &block : why.longest_blocks)
      lines.push_back(block_line(input(), block));
    for (const LongWait &wait : why.longest_waits)
      lines.push_back(wait_line(input(), wait));
    return lines;
  };
  const std::string end = "woken by a timer (nanosleep), b (22) ran there";
  EXPECT_EQ(lines(2 * kMs), (std::vector<std::string>{
                                "a (11) was blocked 1.000 ms from 0.002000 s, and already before "
                                "(nanosleep): woken by a timer",
                                "a (11) waited 3.000 ms for CPU 0 from 0.003000 s: " + end,
                            }));
  EXPECT_EQ(report()["blocks"][0]["starts"], false);
  EXPECT_EQ(report()["waits"][0]["starts"], true);
  EXPECT_EQ(lines(3 * kMs), (std::vector<std::string>{
                                "a (11) waited 3.000 ms for CPU 0 from 0.003000 s: " + end,
                            }))
      << "the block is over, but the wait starts here";
  EXPECT_EQ(why.wakes.at(0).waker,
            Culprit(Culprit::Kind::interrupt, uint32_t(InterruptSource::timer)));
  EXPECT_EQ(lines(4 * kMs),
            (std::vector<std::string>{
                "a (11) waited 2.000 ms for CPU 0 from 0.004000 s, and already before: " + end,
            }));
  EXPECT_EQ(report()["waits"][0]["starts"], false);
  EXPECT_EQ(why.threads[0].waiting, 2 * kMs);
}

TEST_F(Why, TenOfTheLongestWaitsAreListed) {
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "worker").id(2, 22, 22, "spinner");
  cpu.dispatch(1);
  for (uint64_t n = 1; n <= 12; n++)
    cpu.at(10 * n * kMs)
        .epilogue(1, 22)
        .dispatch(2)
        .at((10 * n + 5) * kMs)
        .epilogue(2, 11)
        .dispatch(1);
  cpu.at(200 * kMs).stop();
  explain_all();
  const auto listed = [&](const WhyOptions &options) {
    return test::count_in(why_text(input(), options), " for CPU 0 from ");
  };
  EXPECT_EQ(listed({}), 10u);
  EXPECT_EQ(listed({.top = 3}), 3u);
  EXPECT_EQ(listed({.top = 0}), 24u) << "all";
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

TEST_F(Why, AThreadThatIsNotKnownHasAReason) {
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "a").at(10).dispatch(1);
  cpu.at(30).blackout_start().at(40).blackout_end(3).at(60).dispatch(1).at(100).stop();
  explain_all();
  EXPECT_EQ(why.unknown[size_t(UnknownWhy::not_seen_yet)], 10u);
  EXPECT_EQ(why.unknown[size_t(UnknownWhy::lost)], 30u);
  const std::string text = why_text(input());
  EXPECT_NE(text.find("before its first event"), std::string::npos) << text;
  EXPECT_NE(text.find("events were lost"), std::string::npos) << text;
}

} // namespace
} // namespace ovnitrace
