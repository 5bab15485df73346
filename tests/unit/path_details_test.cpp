// SPDX-License-Identifier: BSD-2-Clause
// What a segment of a critical path says of the call, the interrupt and the device.
#include "emulator/critical/path_text.h"
#include "emulator/critical/spin_groups.h"
#include "tests/unit/support/path_rig.h"

namespace ovnitrace {
namespace {

using test::Texts;

constexpr uint32_t kRead = FTRACE_CALL_NATIVE;
constexpr uint32_t kPoll = FTRACE_CALL_NATIVE + 7;
constexpr uint32_t kNanosleep = FTRACE_CALL_NATIVE + 35;
constexpr uint32_t kFutex = FTRACE_CALL_NATIVE + 202;

/// 11 runs on the only CPU, and is blocked for 100 ns again and again.
class PathDetails : public test::PathRig {
protected:
  PathDetails() {
    trace.json(R"({"version": 1, "machine": "x86_64", "cpu_holders": true,
                   "devices": [{"device": 8388608, "name": "sda"}],
                   "peers": [{"tid": 33, "pid": 33, "name": "kworker/0:1"}]})");
    trace.cpu(0).at(50).id(1, 11, 11, "a").snapshot(1, 1, 0).at(100).start();
  }
  /// Blocks the thread, and returns the CPU when it is time for the wakeup.
  test::ChunkBuilder &block(uint32_t call) {
    trace.cpu(0)
        .at(now_ += 100)
        .record(uint16_t(FTrace_EVT_task_sleep | FTRACE_CALL_CODE(call)), 1,
                uint32_t(FTRACE_OFFCPU_SLEEP) << FTRACE_REASON_SHIFT | FTRACE_CALL_PAR2(call));
    return trace.cpu(0).at(now_ += 100);
  }
  /// "cause, call" of each segment in which the thread does not run.
  Texts blocks() {
    trace.cpu(0).at(now_ + 100).stop();
    trace.write();
    test::CollectingSink sink;
    const auto source = open_trace({{dir.path()}}, sink);
    CriticalPath path = critical_path(*source, info, {}, {11, {}});
    Texts texts;
    path.for_each([&](const PathSegment &segment) {
      if (segment.cause != Cause::running)
        texts.push_back(cause_text(segment, source->catalog()) + ", " +
                        std::string(call_text(segment, source->catalog())));
    });
    return texts;
  }

private:
  uint64_t now_ = 100;
};

TEST_F(PathDetails, AnInterruptHasItsNumberAndADeviceItsName) {
  constexpr uint16_t kRcu = FTRACE_INTERRUPT_SOFT | 9;
  block(kFutex).record(FTrace_EVT_interrupt_start, kRcu).activate(1, 0, FTRACE_WAKER_SOFTIRQ);
  trace.cpu(0).record(FTrace_EVT_interrupt_end, kRcu).dispatch(1);
  block(kPoll).activate(1, 0, FTRACE_WAKER_HARDIRQ).dispatch(1);
  block(kRead).record(FTrace_EXT_device, 1, 8 << 20).activate(1, 0, FTRACE_WAKER_HARDIRQ);
  trace.cpu(0).dispatch(1);
  block(kPoll).record(FTrace_EXT_device, 1, 9 << 20 | 5).activate(1, 99).dispatch(1);
  EXPECT_EQ(blocks(),
            (Texts{"interrupt RCU, futex", "interrupt, poll", "I/O: sda, read", "I/O: 9:5, poll"}));
}

TEST_F(PathDetails, ABlockThatAThreadEndsHasItsCall) {
  block(kFutex).activate(1, 99).dispatch(1);
  block(kPoll).activate(1, 99, FTRACE_WAKER_UNKNOWN).dispatch(1);
  EXPECT_EQ(blocks(), (Texts{"outside: thread 99, futex", "blocked in poll, poll"}));
}

TEST_F(PathDetails, ASleepIsEndedByATimerIfAHardInterruptMadeTheWakeup) {
  block(kNanosleep).activate(1, 99, FTRACE_WAKER_HARDIRQ).dispatch(1);
  block(kNanosleep).activate(1, 99, FTRACE_WAKER_SOFTIRQ).dispatch(1); // as a signal does
  block(kPoll).activate(1, 99, FTRACE_WAKER_HARDIRQ).dispatch(1);
  EXPECT_EQ(blocks(), (Texts{"timer, nanosleep", "interrupt, nanosleep", "interrupt, poll"}));
}

TEST_F(PathDetails, ABlockThatAKernelWorkerEndsHasItsCallUntilTheItemIsQueued) {
  const auto work = [&](uint32_t call, uint32_t queuer) {
    auto &cpu = block(call).record(FTrace_EXT_work, 1, queuer);
    cpu.record(FTrace_EXT_work_age, 1, 30).activate(1, 33).dispatch(1);
  };
  work(kNanosleep, 0);
  work(kFutex, 0);
  work(kRead, 44);
  block(kPoll).activate(1, 33).dispatch(1);
  EXPECT_EQ(blocks(), (Texts{"interrupt, nanosleep", "kernel worker kworker/0:1 (33), ",
                             "interrupt, futex", "kernel worker kworker/0:1 (33), ",
                             "outside: thread 44, read", "kernel worker kworker/0:1 (33), ",
                             "kworker/0:1 (33), queued by unknown, poll"}));
}

class PathEdges : public test::PathRig {};

TEST_F(PathEdges, AProgramThatStartsAtTheEndOfTheRangeHasThePathBeforeIt) {
  auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "app", 1).at(1).create(1, 11).at(10);
  cpu.dispatch(1).at(20).record(FTrace_EXT_exec, 1, 11).at(100).stop();
  set_program(11);
  Cut cut;
  cut.to = 20;
  const Texts before = path({11, {}}, cut);
  ASSERT_FALSE(before.empty());
  EXPECT_EQ(before.back(), "11 running 10-20");
  cut.to = 21;
  EXPECT_EQ(path({11, {}}, cut), Texts{"11 running 20-21"});
}

TEST_F(PathEdges, TheFirstOfTwoThreadsThatRanEquallyLongIsTheDefault) {
  trace.cpu(0).at(50).id(1, 11, 11, "a").snapshot(1, 1, 0).at(100).start().at(200).stop();
  trace.cpu(1).at(50).id(1, 22, 22, "b").snapshot(1, 1, 1).at(100).start().at(200).stop();
  EXPECT_EQ(path({}), Texts{"11 running 100-200"});
}

TEST_F(PathEdges, ATidOfTwoHostsIsThatOfTheLastOne) {
  trace.cpu(0).at(50).id(1, 11, 11, "a").snapshot(1, 1, 0).at(100).start().at(200).stop();
  trace.write();
  test::TempDir dir_of_second;
  test::TraceBuilder second(dir_of_second.path());
  second.cpu(0).at(50).id(1, 11, 11, "b").snapshot(1, 2, 0).at(100).start().at(200).stop();
  second.write();
  test::CollectingSink sink;
  const auto source = open_trace({{dir.path()}, {dir_of_second.path()}}, sink);
  EXPECT_EQ(critical_path(*source, info, {}, {11, {}}).thread, 1u);
}

/// To look at each of more threads at each step would take too long.
TEST(LargeSpinGroups, AGroupOf1024ThreadsIsSearched) {
  Catalog catalog;
  for (uint32_t n = 0; n < 1024; n++) {
    ThreadInfo &thread = catalog.threads.emplace_back();
    thread.tid = 100 + n;
    thread.pid = 100;
  }
  const auto is_last = [](uint32_t thread) { return thread == 1023; };
  EXPECT_EQ(SpinGroups(catalog).only_other(0, is_last), 1023u);
  catalog.threads.push_back(catalog.threads.back());
  EXPECT_EQ(SpinGroups(catalog).only_other(0, is_last), kNone);
}

} // namespace
} // namespace ovnitrace
