// SPDX-License-Identifier: BSD-2-Clause
// `ovnitrace why`: who ended a block, and how that is said.
#include "emulator/why/wait_lines.h"
#include "tests/unit/support/why_rig.h"

#include <map>
#include <set>

namespace ovnitrace {
namespace {

using nlohmann::json;
using test::kEpollWait;
using test::kFutex;
using test::kNanosleep;
using test::kPread;
using test::kPwritev;
using test::kRead;

class WhyWakers : public test::WhyRig {};

TEST_F(WhyWakers, AnInterruptIsNamedAfterItsCause) {
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
  wake_in(kNanosleep, FTRACE_WAKER_SOFTIRQ, 0); // as a signal does
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
                        {"nanosleep interrupt", "null"},
                        {"epoll_wait interrupt", "null"},
                        {"epoll_wait timer", "null"},
                        {"epoll_wait I/O", "null"},
                        {"epoll_wait network", "null"},
                        {"futex timer", "null"},
                        {"futex b", "22"},
                    }));
}

TEST_F(WhyWakers, AThreadThatWasInterruptedIsNeverTheWaker) {
  trace.json(R"({"version": 1, "machine": "x86_64", "all_threads": true,
                 "peers": [{"tid": 77, "pid": 77, "name": "browser"}]})");
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "a").dispatch(1);
  uint64_t time = 1000;
  const auto wake_in = [&](uint32_t call, uint32_t reason, uint32_t context) {
    block(cpu.at(time), 1, call, 77, reason).at(time + 100).activate(1, 77, context).dispatch(1);
    time += 1000;
  };
  for (const uint32_t call : {kEpollWait, kRead, kPread, kPwritev, kFutex})
    for (const uint32_t reason : {FTRACE_OFFCPU_SLEEP, FTRACE_OFFCPU_DISK})
      for (const uint32_t context : {FTRACE_WAKER_SOFTIRQ, FTRACE_WAKER_HARDIRQ, FTRACE_WAKER_NMI})
        wake_in(call, reason, context);
  cpu.at(time).stop();
  explain_all();
  std::set<std::string> wakers;
  const json all = thread(report(), 11);
  for (const json &block : all["blocked"])
    wakers.insert(block["waker"].get<std::string>() + " " + block["waker_tid"].dump());
  EXPECT_EQ(wakers, std::set<std::string>{"interrupt null"});
  EXPECT_NE(why_text(input()).find("woken by: an interrupt "), std::string::npos);
  EXPECT_EQ(why_text(input()).find("browser"), std::string::npos);
}

TEST_F(WhyWakers, AnUntracedThreadHasTheNameThatItHadThen) {
  trace.json(R"({"version": 1, "machine": "x86_64", "all_threads": true, "peers": [
    {"tid": 77, "pid": 77, "name": "sh", "since_ns": 100},
    {"tid": 77, "pid": 77, "name": "make", "since_ns": 600},
    {"tid": 77, "pid": 78, "name": "cc1", "since_ns": 1000}]})");
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "a").dispatch(1);
  block(cpu.at(100), 1, kRead, 77).at(199).activate(1, 77).at(300).dispatch(1);
  block(cpu.at(600), 1, kRead, 77).at(698).activate(1, 77).at(800).dispatch(1);
  cpu.at(1000).epilogue(1, 77).at(1103).dispatch(1).at(1200).stop();
  explain_all();
  const json of = thread(report(), 11);
  std::map<std::string, json> holders, wakers;
  for (const json &wait : of["waiting"])
    holders[wait["holder"]] = wait["ns"];
  for (const json &wait : of["blocked"])
    wakers[wait["waker"]] = wait["ns"];
  EXPECT_EQ(holders, (std::map<std::string, json>{{"sh", 101}, {"make", 102}, {"cc1", 103}}));
  EXPECT_EQ(wakers, (std::map<std::string, json>{{"sh", 99}, {"make", 98}}));
}

TEST_F(WhyWakers, ABlockDeviceIsTheWakerWhateverItInterrupted) {
  trace.json(R"({"version": 1, "machine": "x86_64", "all_threads": true,
                 "devices": [{"device": 266338304, "name": "vda"}, {"device": 8388609, "name": 3},
                             {"device": 8388610, "name": "s\"d\u001ba"}]})");
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "dd").id(2, 22, 22, "spin").dispatch(1);
  uint64_t time = 1000;
  const auto wake_by = [&](uint32_t device, uint32_t context, uint32_t interrupt) {
    block(cpu.at(time), 1, kRead, 22, FTRACE_OFFCPU_DISK).dispatch(2).at(time + 100);
    if (interrupt)
      cpu.record(FTrace_EVT_interrupt_start, uint16_t(interrupt), 22);
    cpu.record(FTrace_EXT_device, 1, device).activate(1, 22, context);
    if (interrupt)
      cpu.record(FTrace_EVT_interrupt_end, uint16_t(interrupt), 22);
    cpu.epilogue(2, 11).dispatch(1);
    time += 1000;
  };
  wake_by(254 << 20, FTRACE_WAKER_SOFTIRQ, 0);
  wake_by(254 << 20, FTRACE_WAKER_HARDIRQ, 36);
  wake_by(254 << 20, FTRACE_WAKER_TASK, 0); // a kernel thread that ends the I/O
  wake_by(8 << 20 | 1, FTRACE_WAKER_HARDIRQ, 0);
  wake_by(8 << 20 | 2, FTRACE_WAKER_HARDIRQ, 0);
  wake_by(0, FTRACE_WAKER_SOFTIRQ, FTRACE_INTERRUPT_SOFT | 1);
  wake_by(9 << 20 | 70000, FTRACE_WAKER_SOFTIRQ, 0);
  // What follows is no wakeup by a device.
  block(cpu.at(time), 1, kRead, 22, FTRACE_OFFCPU_DISK).dispatch(2);
  cpu.record(FTrace_EXT_device, 1, 254 << 20).at(time + 5);
  cpu.activate(1, 22, FTRACE_WAKER_HARDIRQ).epilogue(2, 11).dispatch(1).at(time + 10).stop();
  explain_all();
  std::map<std::string, uint64_t> wakers;
  const json all = thread(report(), 11);
  for (const json &block : all["blocked"]) {
    const bool by_device = block["waker"] != "I/O" && block["waker"] != "interrupt";
    EXPECT_EQ(block["cause"], by_device ? "read (disk)" : "read (uninterruptible)");
    EXPECT_TRUE(block["waker_tid"].is_null());
    wakers[block["waker"]] = block["count"];
  }
  EXPECT_EQ(wakers, (std::map<std::string, uint64_t>{
                        {"vda", 3}, {"8:1", 1}, {"s?d?a", 1}, {"I/O", 2}, {"interrupt", 1}}));
  EXPECT_NE(why_text(input()).find("woken by: vda "), std::string::npos) << why_text(input());
}

/// A child of kthreadd (2), and kthreadd, may end a block because a disk was read.
TEST_F(WhyWakers, ABlockThatAThreadOfAProgramEndsIsNotMarked) {
  trace.json(R"({"version": 1, "machine": "x86_64", "all_threads": true,
                 "cgroups": ["kernel", "/a"],
                 "peers": [{"tid": 66, "pid": 66, "name": "peer", "cgroup": 2},
                           {"tid": 77, "pid": 77, "name": "rcu", "cgroup": 1},
                           {"tid": 88, "pid": 88, "name": "unknown cgroup"}]})");
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "a").id(2, 22, 22, "b").parent(2, 1);
  cpu.id(3, 33, 33, "kworker").parent(3, 2).id(4, 2, 2, "kthreadd").parent(4, 7);
  cpu.id(5, 55, 55, "unknown parent").dispatch(1);
  uint64_t time = 1000;
  for (const uint16_t waker : {2, 3, 4, 5}) {
    block(cpu.at(time), 1, kRead, 22, FTRACE_OFFCPU_DISK).dispatch(waker).at(time + 100);
    cpu.activate(1, std::map<uint16_t, uint32_t>{{2, 22}, {3, 33}, {4, 2}, {5, 55}}[waker]);
    cpu.epilogue(waker, 11).dispatch(1);
    time += 1000;
  }
  for (const uint32_t peer : {66, 77, 88}) {
    block(cpu.at(time), 1, kRead, peer, FTRACE_OFFCPU_DISK).at(time + 100).activate(1, peer);
    cpu.dispatch(1);
    time += 1000;
  }
  cpu.at(time).stop();
  explain_all();
  std::map<std::string, std::string> causes;
  const json all = thread(report(), 11);
  for (const json &block : all["blocked"])
    causes[block["waker"]] = block["cause"];
  EXPECT_EQ(causes,
            (std::map<std::string, std::string>{{"b", "read"},
                                                {"kworker", "read (uninterruptible)"},
                                                {"kthreadd", "read (uninterruptible)"},
                                                {"unknown parent", "read (uninterruptible)"},
                                                {"peer", "read"},
                                                {"rcu", "read (uninterruptible)"},
                                                {"unknown cgroup", "read (uninterruptible)"}}));
}

TEST_F(WhyWakers, FutexWaitsAreDividedByWaker) {
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
  ASSERT_EQ(locks.size(), 2u) << "a wait that has not ended does not count";
  EXPECT_EQ(locks[0]["futex"], 0x1000);
  EXPECT_EQ(locks[0]["pid"], 10);
  EXPECT_EQ(locks[0]["count"], 2);
  EXPECT_EQ(locks[0]["ns"], 80);
  EXPECT_EQ(locks[0]["max_ns"], 50);
  EXPECT_EQ(locks[0]["gave_up"], 0);
  EXPECT_EQ(locks[0]["waits"][0]["waker_tid"], 22);
  EXPECT_EQ(locks[1]["gave_up"], 1);
  EXPECT_EQ(locks[1]["waits"][0]["waker"], "nobody yet");
  EXPECT_NE(why_text(input()).find("nobody: it did not block"), std::string::npos);
}

TEST_F(WhyWakers, OnlyAPriorityInheritanceFutexIsMarkedSo) {
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 10, "a").id(2, 22, 10, "b").dispatch(1);
  const auto wait = [&](uint64_t from, uint32_t futex, uint32_t end) {
    cpu.at(from).record(FTrace_EVT_mutex_wait, 1, futex);
    block(cpu, 1, kFutex, 22).dispatch(2).at(from + 50).activate(1, 22).epilogue(2, 11);
    cpu.dispatch(1).record(FTrace_EVT_mutex_lock, 1, futex | end);
  };
  wait(100, 0x1000, FTRACE_FUTEX_PLAIN);
  wait(200, 0x2000, 0);
  cpu.at(300).stop();
  explain_all();
  std::map<json, json> inherits; // by futex
  const json all = report();
  for (const json &lock : all["locks"])
    inherits[lock["futex"]] = lock["pi"];
  EXPECT_EQ(inherits, (std::map<json, json>{{0x1000, false}, {0x2000, true}}));
  const std::string text = why_text(input());
  EXPECT_NE(text.find("0x2000 (PI)"), text.npos) << text;
  EXPECT_EQ(text.find("0x1000 (PI)"), text.npos) << text;
}

TEST_F(WhyWakers, AFutexHasTheFunctionOfItsLongestWait) {
  trace.json(R"({"format": "ovnitrace", "version": 1, "machine": "x86_64", "all_threads": true,
                 "options": {"stacks": "kernel,user"},
                 "stack_files": [{"path": "/usr/lib/libc.so.6"}, {"path": "/opt/app"}],
                 "stack_frames": [{"file": 0, "function": "pthread_mutex_lock", "offset": 1},
                                  {"file": 1, "function": "push", "offset": 2},
                                  {"file": 1, "function": "pop", "offset": 3}],
                 "stacks": [{"user": [0, 1]}, {"user": [0, 2]}]})");
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 10, "a").id(2, 22, 10, "b").dispatch(1);
  const auto wait = [&](uint64_t from, uint64_t to, uint32_t futex, uint32_t stack) {
    cpu.at(from).record(FTrace_EVT_mutex_wait, 1, futex).record(FTrace_EXT_stack, 1, stack);
    block(cpu, 1, kFutex, 22).dispatch(2).at(to).activate(1, 22).epilogue(2, 11).dispatch(1);
    cpu.record(FTrace_EVT_mutex_lock, 1, futex | FTRACE_FUTEX_PLAIN);
  };
  wait(100, 150, 0x1000, 1);
  wait(200, 290, 0x1000, 2);
  wait(300, 320, 0x1000, 1);
  cpu.at(400).record(FTrace_EVT_mutex_wait, 1, 0x2000).at(405);
  cpu.record(FTrace_EVT_mutex_lock, 1, 0x2000 | FTRACE_FUTEX_PLAIN).at(500).stop();
  explain_all();
  const std::string text = why_text(input());
  EXPECT_NE(
      text.find("\n0x1000  10       b (22)                    pop                    1      3 "),
      std::string::npos)
      << text;
  EXPECT_EQ(report()["locks"][0]["max_at"], "pop");
  EXPECT_TRUE(report()["locks"][1]["max_at"].is_null());
}

TEST_F(WhyWakers, ABlockInAPageFaultIsNamedIfItsStackShowsIt) {
  trace.json(R"({"format": "ovnitrace", "version": 1, "machine": "x86_64", "all_threads": true,
                 "options": {"stacks": "kernel,user"},
                 "stack_files": [{"path": "/opt/app"}],
                 "stack_frames": [{"kernel": true, "function": "filemap_fault"},
                                  {"kernel": true, "function": "asm_exc_page_fault"},
                                  {"kernel": true, "function": "worker_thread"},
                                  {"file": 0, "function": "scan", "offset": 2}],
                 "stacks": [{"kernel": [0, 1], "user": [3]}, {"kernel": [2]}]})");
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "app").id(2, 22, 22, "b").dispatch(1);
  const auto sleep = [&](uint64_t from, uint32_t call, uint32_t stack) {
    cpu.at(from).record(FTrace_EXT_stack, 1, stack);
    block(cpu, 1, call, 22, FTRACE_OFFCPU_DISK)
        .dispatch(2)
        .at(from + 50)
        .activate(1, 22, FTRACE_WAKER_NMI);
    cpu.epilogue(2, 11).dispatch(1);
  };
  sleep(100, FTRACE_CALL_NONE, 1);
  sleep(200, FTRACE_CALL_NONE, 2);
  sleep(300, kRead, 1);
  cpu.at(400).stop();
  explain_all();
  std::set<std::string> causes;
  const json all = thread(report(), 11);
  for (const json &block : all["blocked"])
    causes.insert(block["cause"]);
  EXPECT_EQ(causes,
            (std::set<std::string>{"page fault (uninterruptible)",
                                   "no system call (uninterruptible)", "read (uninterruptible)"}));
  EXPECT_EQ(block_line(input(), why.longest_blocks[0]),
            "app (11) was blocked 50 ns from 0.000000 s (page fault (uninterruptible)): woken by "
            "an interrupt");
}

TEST_F(WhyWakers, OptionsThatWouldSayMoreAreNamed) {
  constexpr const char *kIdle = "Not known: whether a CPU was idle while threads waited. ";
  constexpr const char *kInterrupt = "Not known: which interrupts woke threads. ";
  for (const std::string families :
       {"sched", "sched,irq,power", "sched, user, power, irq, timer", ""}) {
    trace = test::TraceBuilder(dir.path());
    trace.json(R"({"version": 1, "machine": "x86_64", "options": {"families": ")" + families +
               "\"}}");
    auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "a").id(2, 22, 22, "b").dispatch(1);
    block(cpu.at(1000), 1, kEpollWait, 22).dispatch(2).at(20'000'000);
    cpu.activate(1, 22, FTRACE_WAKER_HARDIRQ).at(40'000'000).epilogue(2, 11).dispatch(1);
    cpu.at(50'000'000).stop();
    explain_all();
    const std::string text = why_text(input());
    EXPECT_EQ(text.find(kIdle) != text.npos, families == "sched") << text;
    const size_t interrupt = text.find(kInterrupt);
    EXPECT_EQ(
        interrupt == text.npos ? ""
                               : text.substr(interrupt, text.find('\n', interrupt) - interrupt),
        families == "sched" ? kInterrupt + std::string("Record with --filter +timer,irq.")
        : families == "sched,irq,power" ? kInterrupt + std::string("Record with --filter +timer.")
                                        : "");
    EXPECT_EQ(text.find("Record with -a or --filter +power.") != text.npos, families == "sched");
    EXPECT_EQ(why_text(input(), {.columns = 80}).find("with -a or\n--filter +power.") != text.npos,
              families == "sched");
    info.filters = {"--cpu 0"};
    const std::string filtered = why_text(input());
    EXPECT_NE(filtered.find(families == "sched" ? "Record all CPUs, with -a or --filter +power."
                                                : "Record all CPUs."),
              text.npos)
        << filtered;
    info.filters = {"--comm app"};
    EXPECT_EQ(why_text(input()).find("Record with --filter +power.") != text.npos,
              families == "sched");
  }
}

TEST_F(WhyWakers, AWaitForAFutexThatBeganBeforeTheCutOrABlackoutDoesNotCount) {
  auto &cpu = trace.cpu(0).at(1000).start().id(1, 11, 10, "a").dispatch(1);
  const auto wait = [&](uint64_t from, uint64_t to, uint32_t futex) {
    cpu.at(from).record(FTrace_EVT_mutex_wait, 1, futex);
    cpu.at(to).record(FTrace_EVT_mutex_lock, 1, futex | FTRACE_FUTEX_PLAIN);
  };
  wait(1050, 1101, 0x1000);
  wait(1199, 1200, 0x2000);
  wait(1200, 1207, 0x3000);
  cpu.at(1300).record(FTrace_EVT_mutex_wait, 1, 0x4000).blackout_start().at(1310).blackout_end(1);
  cpu.at(1320).record(FTrace_EVT_mutex_lock, 1, 0x4000 | FTRACE_FUTEX_PLAIN).dispatch(1);
  wait(1400, 1409, 0x5000);
  cpu.at(2000).stop();
  Cut cut;
  cut.from = 200;
  explain_all(cut);
  const json locks = report()["locks"];
  ASSERT_EQ(locks.size(), 2u) << locks;
  EXPECT_EQ(locks[0]["futex"], 0x5000) << "the longest is first";
  EXPECT_EQ(locks[0]["ns"], 9);
  EXPECT_EQ(locks[1]["futex"], 0x3000);
  EXPECT_EQ(locks[1]["ns"], 7);
}

TEST_F(WhyWakers, WakeupLatencyIsSummedAndItsLongestIsKept) {
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "a").id(2, 22, 22, "b").dispatch(1);
  uint64_t time = 0;
  for (const uint64_t late : {10, 30, 20}) {
    time += 1000;
    cpu.at(time).sleep(1, 22).dispatch(2).at(time + 50).activate(1, 22);
    cpu.at(time + 50 + late).epilogue(2, 11).dispatch(1);
  }
  cpu.at(4000).sleep(1, 22).dispatch(2).at(4100).activate(1, 22).at(4200).stop();
  explain_all();
  ASSERT_EQ(why.wakes.size(), 1u);
  EXPECT_EQ(why.wakes[0].count, 4u);
  EXPECT_EQ(why.wakes[0].measured, 3u);
  EXPECT_EQ(why.wakes[0].late, 60u) << "the last one has no CPU yet";
  EXPECT_EQ(why.wakes[0].late_max, 30u);
  EXPECT_NE(why_text(input(), {}).find("4       20 ns      30 ns"), std::string::npos)
      << why_text(input(), {});
  Cut cut;
  cut.from = 4050;
  explain_all(cut);
  EXPECT_NE(why_text(input(), {}).find("1           -          -"), std::string::npos)
      << why_text(input(), {});
}

TEST_F(WhyWakers, ACallThatWaitsForAThreadIsNotMarked) {
  constexpr uint32_t kVfork = FTRACE_CALL_NATIVE + 58, kRead = FTRACE_CALL_NATIVE + 0;
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "a").dispatch(1);
  block(cpu.at(10), 1, kVfork, 0, FTRACE_OFFCPU_DISK).at(20).activate(1, 0).dispatch(1);
  block(cpu.at(30), 1, kRead, 0, FTRACE_OFFCPU_DISK).at(90).activate(1, 0).dispatch(1);
  cpu.at(100).stop();
  explain_all();
  const std::string text = why_text(input());
  EXPECT_NE(text.find("read (uninterruptible)"), std::string::npos) << text;
  EXPECT_NE(text.find("vfork"), std::string::npos) << text;
  EXPECT_EQ(text.find("vfork ("), std::string::npos) << text;
}

} // namespace
} // namespace ovnitrace
