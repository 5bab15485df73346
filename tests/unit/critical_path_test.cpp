// SPDX-License-Identifier: BSD-2-Clause
// The critical path of a few cases: what a person would say of them.
#include "emulator/base/error.h"
#include "emulator/critical/path.h"
#include "emulator/critical/spin_groups.h"
#include "emulator/open/open_trace.h"
#include "emulator/why/slowest.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/path_rig.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <gtest/gtest.h>
#include <ovnitrace/control.h>

namespace ovnitrace {
namespace {

using test::CollectingSink;
using test::kHolders;
using test::TempDir;
using test::Texts;
using test::TraceBuilder;

class PathOf : public test::PathRig {};

/// 11 waits for 22, which waits for 33: 33's time until it woke 22 is 11's, but only since 11
/// itself was blocked.
TEST_F(PathOf, AChainGoesBackToWhereTheFirstOneWasBlocked) {
  auto &cpu = trace.cpu(0).at(50);
  cpu.id(1, 11, 11, "a").id(2, 22, 22, "b").id(3, 33, 33, "c").snapshot(1, 1, 0);
  cpu.snapshot(2, 2, 0).snapshot(3, 4, 0, FTRACE_OFFCPU_PREEMPTED).at(100).start();
  cpu.at(200).sleep(1, 33).dispatch(3).at(300).activate(2, 33).at(400).sleep(3, 22).dispatch(2);
  cpu.at(500).activate(1, 22).at(600).sleep(2, 11).dispatch(1).at(700).stop();
  EXPECT_EQ(path({11, {}}),
            (Texts{"11 running 100-200", "33 running 200-300", "22 waiting 300-400 peer=33",
                   "22 running 400-500", "11 waiting 500-600 peer=22", "11 running 600-700"}));
  Cut cut;
  cut.from = 250;
  cut.to = 450;
  EXPECT_EQ(path({11, {}}, cut), (Texts{"22 waiting 350-400 peer=33", "22 running 400-500",
                                        "11 waiting 500-550 peer=22"}));
}

/// Thread 22 of process 11 executes a program after the main thread has ended: from then on, it has
/// the tid of the main thread.
TEST_F(PathOf, AnExecveOfAnotherThreadGoesOnWithThatThread) {
  auto &cpu = trace.cpu(0).at(100).start().id(1, 11, 11, "a").id(2, 22, 11, "b").dispatch(1);
  cpu.at(200).end(1, 22).at(230).dispatch(2).at(300).record(FTrace_EXT_exec, 1, 22);
  trace.cpu(0).at(400).stop();
  EXPECT_EQ(path({11, {}}), (Texts{"11 running 100-200", "22 unknown 200-230", "22 running 230-300",
                                   "11 running 300-400"}));
}

/// As of a wakeup that another CPU makes, by an interrupt from the waker's.
TEST_F(PathOf, ALateWakeupIsUnderWaySinceItsWakerLeftTheCpu) {
  auto &cpu = trace.cpu(0).at(50).id(1, 11, 11, "a").id(2, 22, 22, "b").id(3, 33, 33, "c");
  cpu.snapshot(1, 2, 0).snapshot(2, 1, 0).snapshot(3, 2, 0).at(100).start();
  cpu.at(200).sleep(2).at(250).activate(1, 22).at(260).dispatch(1).at(270).activate(3, 22);
  cpu.at(280).sleep(1, 33).dispatch(3).at(300).stop();
  EXPECT_EQ(path({11, {}}),
            (Texts{"22 running 100-200", "11 waiting 200-250", "11 waiting 250-260 peer=0",
                   "11 running 260-280", "11 not_woken 280-300"}));
  EXPECT_EQ(path({33, {}}), (Texts{"22 running 100-200", "33 waiting 200-270",
                                   "33 waiting 270-280 peer=11", "33 running 280-300"}));
}

TEST_F(PathOf, ATimerOfAThreadIsKnownWhenItExpires) {
  auto &cpu = trace.cpu(0).at(50).id(1, 11, 11, "a").snapshot(1, 2, 0).at(100).start();
  const auto wake = [&] { cpu.activate(1, 0, FTRACE_WAKER_HARDIRQ).dispatch(1); };
  cpu.at(200).record(FTrace_EVT_timer_wakeup_start, 1, FTRACE_TIMER_SLEEP);
  wake();
  cpu.record(FTrace_EVT_timer_wakeup_end, 1, FTRACE_TIMER_SLEEP);
  cpu.at(300).sleep(1).at(400);
  wake();
  cpu.at(500).stop();
  EXPECT_EQ(path({11, {}}), (Texts{"11 timer 100-200", "11 running 200-300", "11 interrupt 300-400",
                                   "11 running 400-500"}));
}

TEST_F(PathOf, ABlockDeviceEndsTheBlockEvenIfAnUntracedThreadMakesTheWakeup) {
  auto &cpu = trace.cpu(0).at(50).id(1, 11, 11, "a").snapshot(1, 2, 0).at(100).start();
  uint64_t time = 200;
  for (const uint32_t context : {FTRACE_WAKER_HARDIRQ, FTRACE_WAKER_SOFTIRQ, FTRACE_WAKER_TASK}) {
    cpu.at(time).record(FTrace_EXT_device, 1, 8 << 20).activate(1, 99, context).dispatch(1);
    cpu.at(time + 50).sleep(1);
    time += 100;
  }
  cpu.at(450).stop();
  EXPECT_EQ(path({11, {}}), (Texts{"11 io 100-200", "11 running 200-250", "11 io 250-300",
                                   "11 running 300-350", "11 io 350-400", "11 running 400-450"}));
}

TEST_F(PathOf, AThreadIsThrottledUntilTheRefill) {
  auto &cpu = trace.cpu(0).at(100).start().id(1, 11, 11, "a").id(2, 22, 22, "b").dispatch(1);
  cpu.at(200).epilogue(1, 22, FTRACE_OFFCPU_THROTTLED).dispatch(2).at(300);
  cpu.record(FTrace_EXT_refill, 1).at(400).epilogue(2, 11).dispatch(1).at(500).stop();
  EXPECT_EQ(path({11, {}}), (Texts{"11 running 100-200", "11 throttled 200-300",
                                   "11 waiting 300-400 peer=22", "11 running 400-500"}));
}

TEST_F(PathOf, AThreadThatIsWokenWithoutQuotaIsThrottledAndThePathGoesToItsWaker) {
  auto &cpu = trace.cpu(0).at(100).start().id(1, 11, 11, "a").id(2, 22, 22, "b").dispatch(1);
  cpu.at(200).sleep(1, 22).dispatch(2).at(300);
  cpu.activate(1, 22, FTRACE_WAKER_TASK | FTRACE_OFFCPU_THROTTLED << 4);
  cpu.at(400).record(FTrace_EXT_refill, 1).at(450).sleep(2, 11).dispatch(1).at(500).stop();
  EXPECT_EQ(path({11, {}}),
            (Texts{"11 running 100-200", "22 running 200-300", "11 throttled 300-400",
                   "11 waiting 400-450 peer=22", "11 running 450-500"}));
}

TEST_F(PathOf, ThreadsThatWakeEachOtherAtOneTimeEndThePath) {
  auto &cpu = trace.cpu(0).at(50).id(1, 11, 11, "a").id(2, 22, 22, "b");
  cpu.snapshot(1, 2, 0).snapshot(2, 2, 0).at(100).start();
  cpu.at(200).activate(1, 22).activate(2, 11).dispatch(1).at(300).stop();
  EXPECT_EQ(path({11, {}}), (Texts{"11 blocked 100-200", "11 running 200-300"}));
}

TEST_F(PathOf, AWorkItemBelongsToItsQueuerFromWhenItWasQueued) {
  auto &cpu = trace.cpu(0).at(50).id(1, 11, 11, "a").id(2, 22, 22, "b");
  cpu.snapshot(1, 2, 0).snapshot(2, 1, 0).at(100).start();
  cpu.at(310).epilogue(2, 11).dispatch(1).at(400).stop();
  auto &other = trace.cpu(1).at(50).id(1, 11, 11, "a").id(3, 33, 33, "kworker/1:0");
  other.snapshot(3, 1, 1).at(300).record(FTrace_EXT_work, 1, 22);
  other.record(FTrace_EXT_work_age, 1, 80).activate(1, 33).at(400).stop();
  EXPECT_EQ(path({11, {}}), (Texts{"22 running 100-220", "22 worker 220-300 peer=33",
                                   "11 waiting 300-310 peer=22", "11 running 310-400"}));
}

TEST_F(PathOf, AWorkItemOfAnInterruptOrOfAThreadThatIsNotTracedEndsABlock) {
  auto &cpu = trace.cpu(0).at(50).id(1, 11, 11, "a").snapshot(1, 2, 0).at(100).start();
  const auto wake = [&](uint32_t queuer, uint32_t age) {
    cpu.record(FTrace_EXT_work, 1, queuer).record(FTrace_EXT_work_age, 1, age);
    cpu.activate(1, 33).dispatch(1);
  };
  cpu.at(200);
  wake(0, 20);
  cpu.at(300).sleep(1).at(400);
  wake(44, 30);
  cpu.at(500).sleep(1).at(600);
  wake(11, 150);
  cpu.at(700).stop();
  EXPECT_EQ(path({11, {}}),
            (Texts{"11 interrupt 100-180", "11 worker 180-200 peer=33", "11 running 200-300",
                   "11 outside 300-370 peer=44", "11 worker 370-400 peer=33", "11 running 400-500",
                   "11 worker 500-600 peer=33", "11 running 600-700"}));
}

TEST_F(PathOf, AWorkItemOfAnUnknownQueuerHasOnlyTheRunThatWokeTheThread) {
  auto &cpu = trace.cpu(0).at(50).id(1, 11, 11, "a").id(2, 22, 22, "b");
  cpu.snapshot(1, 2, 0).snapshot(2, 1, 0).at(100).start();
  cpu.at(310).epilogue(2, 11).dispatch(1).at(400).stop();
  auto &other = trace.cpu(1).at(50).id(1, 11, 11, "a").id(3, 33, 33, "kworker/1:0");
  other.id(2, 22, 22, "b").snapshot(3, 2, 1).at(150).activate(3, 22).at(160).dispatch(3);
  other.at(300).activate(1, 33).at(400).stop();
  EXPECT_EQ(path({11, {}}), (Texts{"11 unowned 100-160 peer=33", "33 running 160-300",
                                   "11 waiting 300-310 peer=22", "11 running 310-400"}));
}

/// Two threads take turns on a CPU and wait for a third one without blocking.
class SpinOf : public PathOf {
protected:
  static constexpr uint64_t kEnd = 400;
  /// From 150 on a and c yield to one another, 10 ns each, up to 290.
  void spin(uint32_t process_of_c) {
    auto &cpu = trace.cpu(0).at(50).id(1, 11, 11, "a").id(3, 33, process_of_c, "c");
    cpu.snapshot(1, 1, 0).snapshot(3, 5, 0).at(100).start();
    for (uint64_t at = 150; at < 290; at += 20) {
      cpu.at(at).epilogue(1, 33, FTRACE_OFFCPU_YIELDED).dispatch(3);
      cpu.at(at + 10).epilogue(3, 11, FTRACE_OFFCPU_YIELDED).dispatch(1);
    }
    cpu.at(kEnd).stop();
  }
};

TEST_F(SpinOf, TheOnlyThreadThatDoesNotSpinIsResponsible) {
  spin(11);
  trace.cpu(1).at(50).id(2, 22, 11, "b").snapshot(2, 1, 1).at(100).start().at(kEnd).stop();
  EXPECT_EQ(path({11, {}}),
            (Texts{"11 running 100-150", "22 running 150-280", "11 running 280-400"}));
}

TEST_F(SpinOf, ThreadSpinsIfNoneOrSeveralOthersCouldEndIt) {
  spin(11);
  EXPECT_EQ(path({11, {}}), (Texts{"11 running 100-150", "33 running 150-160", "11 spins 160-280",
                                   "11 running 280-400"}))
      << "c does not spin yet when a already does";
}

/// sched_yield() may return to its caller for a slice, which is longer with more CPUs. A thread
/// that is preempted between two yields still spins.
TEST_F(SpinOf, ARunOfASliceAndAPreemptionAreInTheSpin) {
  constexpr uint64_t ms = 1'000'000;
  auto &cpu = trace.cpu(0).at(ms - 50).id(1, 11, 11, "a").id(3, 33, 33, "c");
  cpu.snapshot(1, 1, 0).snapshot(3, 5, 0).at(ms).start();
  const auto leave = [&](uint64_t at, uint32_t reason) {
    cpu.at(at).epilogue(1, 33, reason).dispatch(3).at(at + ms).epilogue(3, 11).dispatch(1);
  };
  leave(4 * ms, FTRACE_OFFCPU_YIELDED);
  leave(6 * ms + ms / 2, FTRACE_OFFCPU_YIELDED); // 1.5 ms later
  leave(8 * ms, FTRACE_OFFCPU_PREEMPTED);
  leave(10 * ms, FTRACE_OFFCPU_YIELDED); // it ran 0.5 ms and 1 ms
  leave(13 * ms, FTRACE_OFFCPU_YIELDED); // more than a slice
  cpu.at(20 * ms).stop();
  trace.cpu(1).at(ms - 50).id(2, 22, 11, "b").snapshot(2, 1, 1).at(ms).start().at(20 * ms).stop();
  EXPECT_EQ(path({11, {}}),
            (Texts{"11 running 1000000-4000000", "22 running 4000000-11000000",
                   "11 running 11000000-13000000", "11 waiting 13000000-14000000 peer=33",
                   "11 running 14000000-20000000"}));
}

TEST(SpinGroups, ProcessesWithOneMakerOnOneHostAreAGroupUnlessInitTookThemOver) {
  struct Process {
    uint32_t pid, maker, host;
  };
  Catalog catalog;
  for (const auto &[pid, maker, host] : std::initializer_list<Process>{{1, 0, 0},
                                                                       {2, 1, 0},
                                                                       {11, 2, 0},
                                                                       {12, 2, 0},
                                                                       {21, 1, 0},
                                                                       {22, 1, 0},
                                                                       {2, 0, 1},
                                                                       {13, 2, 1}}) {
    ThreadInfo &thread = catalog.threads.emplace_back();
    thread.tid = thread.pid = pid;
    thread.parent = maker;
    thread.host = host;
  }
  const SpinGroups groups(catalog);
  std::vector<uint32_t> other;
  for (uint32_t t = 0; t < catalog.threads.size(); t++)
    other.push_back(groups.only_other(t, [](uint32_t) { return true; }));
  EXPECT_EQ(other, (std::vector<uint32_t>{kNone, kNone, 3, 2, kNone, kNone, kNone, kNone}));
}

/// 11 waits on CPU 0, then on CPU 1, then on CPU 2, where it gets a CPU.
TEST_F(PathOf, AThreadThatIsMovedWaitsForTheHoldersOfEachCpu) {
  auto &first = trace.cpu(0).at(50).id(1, 11, 11, "a").id(2, 22, 22, "b");
  first.snapshot(1, 2, 0).snapshot(2, 1, 0).at(100).start().at(200).activate(1, 22).at(1000).stop();
  auto &second = trace.cpu(1).at(50).id(1, 11, 11, "a").id(3, 33, 33, "c").snapshot(3, 1, 1);
  second.at(100).start().at(300).migrate(1, 1).at(1000).stop();
  auto &third = trace.cpu(2).at(50).id(1, 11, 11, "a").id(4, 44, 44, "d").id(5, 55, 55, "e");
  third.snapshot(4, 1, 2).snapshot(5, 4, 2).at(100).start().at(500).migrate(1, 2);
  third.at(600).epilogue(4, 55).dispatch(5).at(700).epilogue(5, 11).dispatch(1).at(1000).stop();
  EXPECT_EQ(path({11, {}}), (Texts{"22 running 100-200", "11 waiting 200-300 peer=22",
                                   "11 waiting 300-500 peer=33", "11 waiting 500-600 peer=44",
                                   "11 waiting 600-700 peer=55", "11 running 700-1000"}));
}

/// The CPU was idle before the loss, and has another holder after it.
TEST_F(PathOf, AfterALossNobodyIsKnownToHoldTheCpu) {
  trace.json(R"({"version": 1, "all_threads": true})");
  auto &cpu = trace.cpu(0).at(50).id(1, 11, 11, "a").id(2, 22, 22, "b").id(3, 33, 33, "c");
  cpu.snapshot(1, 2, 0).snapshot(2, 1, 0).at(100).start().at(200).sleep(2, 0).at(300);
  cpu.blackout_start().at(400).blackout_end(2).at(800).dispatch(1).at(900).stop();
  trace.cpu(1).at(50).id(1, 11, 11, "a").id(3, 33, 33, "c").snapshot(3, 1, 1).at(100).start();
  trace.cpu(1).at(450).snapshot(1, 2, 0).at(500).activate(1, 33).at(900).stop();
  const Texts all = path({11, {}});
  EXPECT_EQ(all[all.size() - 2], "11 waiting 500-800");
}

TEST_F(PathOf, AtTheStartOfARegionNobodyIsKnownToHoldTheCpu) {
  std::vector<std::string> waits;
  for (const bool starts : {false, true}) {
    trace = TraceBuilder(dir.path());
    trace.json(kHolders);
    auto &cpu = trace.cpu(0).at(50).id(1, 11, 11, "a").id(2, 22, 11, "b");
    cpu.snapshot(1, 2, 0).snapshot(2, 1, 0).at(100).start().at(200).sleep(2, 77);
    cpu.at(800).dispatch(1).at(900).stop();
    auto &other = trace.cpu(1).at(50).id(1, 11, 11, "a").id(3, 33, 11, "c").snapshot(3, 1, 1);
    other.at(100).start().at(300);
    if (starts)
      other.record(FTrace_EXT_region, 3, CONTROL_START << FTRACE_REGION_EVENT_SHIFT);
    other.at(500).activate(1, 33).at(900).stop();
    const Texts all = path({11, {}});
    waits.push_back(all[all.size() - 2]);
  }
  EXPECT_EQ(waits, (Texts{"11 waiting 500-800 peer=77", "11 waiting 500-800"}));
}

TEST_F(PathOf, ASectionWhoseEndMayBeLostIsForgotten) {
  auto &cpu = trace.cpu(0).at(50).id(1, 11, 11, "a").snapshot(1, 1, 0).at(100).start();
  const auto start = [&] { cpu.record(FTrace_EVT_user_event_13, 0, 7); };
  const auto end = [&] { cpu.record(FTrace_EVT_user_event_14, 0, 7); };
  cpu.at(150), start();
  cpu.at(200).blackout_start().at(210).blackout_end(1).at(220).dispatch(1).at(300), end();
  cpu.at(400), start();
  cpu.at(450), end();
  cpu.at(500).stop();
  EXPECT_EQ(path({{}, 7}), Texts{"11 running 400-450"});
  CollectingSink sink;
  const auto sections = longest_sections(*open_trace({{dir.path()}}, sink), {}, 7, 10);
  ASSERT_EQ(sections.size(), 1u);
  EXPECT_EQ(sections[0].from, 400u);
  EXPECT_EQ(sections[0].to, 450u);
}

TEST_F(PathOf, OnlySectionsInsideThePartAreListed) {
  auto &cpu = trace.cpu(0).at(50).id(1, 11, 11, "a").snapshot(1, 1, 0).at(100).start();
  for (const uint64_t time : {200, 400, 600})
    cpu.at(time)
        .record(FTrace_EVT_user_event_13, 0, 7)
        .at(time + 50)
        .record(FTrace_EVT_user_event_14, 0, 7);
  cpu.at(700).stop();
  trace.write();
  CollectingSink sink;
  Cut cut;
  cut.from = 250;
  cut.to = 350; // of the trace, which begins at 100
  const auto sections = longest_sections(*open_trace({{dir.path()}}, sink), cut, 7, 10);
  ASSERT_EQ(sections.size(), 1u);
  EXPECT_EQ(sections[0].from, 400u);
  EXPECT_EQ(sections[0].to, 450u);
}

TEST_F(PathOf, SectionsThatAreNestedTooDeepAreLeftOutWithTheirEnds) {
  auto &cpu = trace.cpu(0).at(50).id(1, 11, 11, "a").snapshot(1, 1, 0).at(100).start();
  for (uint64_t n = 0; n < 600; n++)
    cpu.at(200 + n).record(FTrace_EVT_user_event_13, 0, 7);
  for (uint64_t n = 0; n < 600; n++)
    cpu.at(1000 + n).record(FTrace_EVT_user_event_14, 0, 7);
  cpu.at(2000).stop();
  trace.write();
  CollectingSink sink;
  const auto sections = longest_sections(*open_trace({{dir.path()}}, sink), {}, 7, 1000);
  ASSERT_EQ(sections.size(), 512u);
  EXPECT_EQ(sections[0].from, 200u);
  EXPECT_EQ(sections[0].to, 1599u);
  EXPECT_EQ(sections[511].from, 711u);
  EXPECT_EQ(sections[511].to, 1088u);
}

/// As `why` says: only the first run of a new thread tells the CPU for which it waited.
TEST_F(PathOf, ANewThreadWaitsBehindTheHolderOfTheCpuThatItGets) {
  auto &cpu = trace.cpu(0).at(50).id(1, 11, 11, "a").id(2, 12, 11, "b", 200).id(3, 33, 33, "c");
  cpu.snapshot(1, 1, 0).at(100).start().at(200).create(2, 12).activate_new(2, 11);
  cpu.at(250).sleep(1, 33).dispatch(3).at(300).sleep(3, 12).dispatch(2).at(400).stop();
  EXPECT_EQ(path({12, {}}), (Texts{"11 running 100-200", "12 waiting 200-250 peer=11",
                                   "12 waiting 250-300 peer=33", "12 running 300-400"}));
}

TEST_F(PathOf, ANewThreadWithoutQuotaIsThrottledAndThePathGoesToItsCreator) {
  auto &cpu = trace.cpu(0).at(50).id(1, 11, 11, "a").id(2, 12, 11, "b", 200);
  cpu.snapshot(1, 1, 0).at(100).start().at(200).create(2, 12);
  cpu.record(FTrace_EVT_task_activate, 2,
             11 | FTRACE_WAKEUP_NEW | FTRACE_OFFCPU_THROTTLED << FTRACE_WAKEUP_HELD_SHIFT);
  cpu.at(250).record(FTrace_EXT_refill, 2).sleep(1, 12).dispatch(2).at(400).stop();
  EXPECT_EQ(path({12, {}}),
            (Texts{"11 running 100-200", "12 throttled 200-250", "12 running 250-400"}));
}

TEST(DiskList, IsReadInBothDirectionsAlsoFromItsFile) {
  DiskList<uint64_t> list(4); // records of a block
  for (uint64_t n = 0; n < 4 * 5 + 3; n++)
    list.append(n * n);
  ASSERT_EQ(list.count(), 23u);
  for (uint64_t n = 0; n < list.count(); n++)
    EXPECT_EQ(list.at(n), n * n);
  for (uint64_t n = list.count(); n-- > 0;)
    EXPECT_EQ(list.at(n), n * n);
}

TEST(DiskList, AFileThatCannotBeMadeIsAnError) {
  TempDir dir;
  const char *before = getenv("TMPDIR");
  const std::string kept = before ? before : "";
  setenv("TMPDIR", (dir.path() + "/none").c_str(), 1);
  DiskList<uint64_t> list(1);
  list.append(1);
  EXPECT_THROW(list.append(2), Error);
  before ? setenv("TMPDIR", kept.c_str(), 1) : unsetenv("TMPDIR");
}

} // namespace
} // namespace ovnitrace
