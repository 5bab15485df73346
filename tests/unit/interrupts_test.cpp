// SPDX-License-Identifier: BSD-2-Clause
// Which interrupts CPUs serve, and what they stand for.
#include "emulator/slices/interrupts.h"

#include "tests/unit/support/path_texts.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <gtest/gtest.h>

namespace ovnitrace {
namespace {

constexpr uint16_t kLocalTimer = FTRACE_INTERRUPT_VECTOR | 0xec;

class Served : public ::testing::Test {
public:
  Served &event(uint32_t kind, uint32_t cpu, uint16_t interrupt = 0) {
    Event event;
    event.kind = kind;
    event.cpu = cpu;
    event.par1 = interrupt;
    served.event(event);
    return *this;
  }
  Served &start(uint32_t cpu, uint16_t interrupt) {
    return event(FTrace_EVT_interrupt_start, cpu, interrupt);
  }
  Served &end(uint32_t cpu, uint16_t interrupt) {
    return event(FTrace_EVT_interrupt_end, cpu, interrupt);
  }

  ServedInterrupts served{2};
};

TEST_F(Served, TheInnermostIsTheLastThatHasNotEnded) {
  EXPECT_EQ(served.innermost(0), kNoInterrupt);
  start(0, 5).start(0, 6).start(1, 7);
  EXPECT_EQ(served.innermost(0), 6);
  EXPECT_EQ(served.innermost(1), 7);
  EXPECT_EQ(served.innermost(2), kNoInterrupt) << "there is no such CPU";
  end(0, 6);
  EXPECT_EQ(served.innermost(0), 5);
  end(0, 9).end(2, 5);
  EXPECT_EQ(served.innermost(0), 5) << "ends of others";
  end(0, 5);
  EXPECT_EQ(served.innermost(0), kNoInterrupt);
}

TEST_F(Served, AnEndEndsWhatIsNestedInIt) {
  start(0, 5).start(0, 6).start(0, 7).end(0, 6);
  EXPECT_EQ(served.innermost(0), 5);
  start(0, 5).start(0, 8).end(0, 5);
  EXPECT_EQ(served.innermost(0), 5) << "the inner one of two of this number";
}

TEST_F(Served, ATimerOfAThreadIsAnInterrupt) {
  event(FTrace_EVT_timer_wakeup_start, 0, 1);
  EXPECT_EQ(source_of(served.innermost(0)), InterruptSource::timer);
  event(FTrace_EVT_timer_wakeup_end, 0, 1);
  EXPECT_EQ(served.innermost(0), kNoInterrupt);
}

TEST_F(Served, ALossOrTheEndOfTheCaptureOfInterruptsForgetsThem) {
  for (const uint32_t kind : {FTrace_EVT_blackout_start, FTrace_EVT_blackout_end}) {
    start(0, 5).start(1, 6).event(kind, 0).event(kind, 2);
    EXPECT_EQ(served.innermost(0), kNoInterrupt);
    EXPECT_EQ(served.innermost(1), 6) << "another CPU lost nothing";
  }
  for (const uint32_t kind : {FTrace_filter_interrupt, FTrace_filter_timer}) {
    start(0, 5).start(1, 6).event(kind, 0);
    EXPECT_EQ(served.innermost(0), kNoInterrupt);
    EXPECT_EQ(served.innermost(1), kNoInterrupt);
  }
}

TEST_F(Served, SixteenAreNested) {
  for (uint16_t n = 1; n <= 17; n++)
    start(0, n);
  EXPECT_EQ(served.innermost(0), 16);
}

TEST_F(Served, ADeviceIsOfTheWakeupThatFollowsIt) {
  Event device;
  device.kind = FTrace_EXT_device;
  device.time = 100;
  device.cpu = 1;
  device.thread = 3;
  device.par2 = 8 << 20;
  served.event(device);
  Event wakeup = device;
  EXPECT_EQ(served.device(wakeup), 8u << 20);
  wakeup.time = 101;
  EXPECT_EQ(served.device(wakeup), kNone);
  wakeup = device;
  wakeup.cpu = 0;
  EXPECT_EQ(served.device(wakeup), kNone);
  wakeup = device;
  wakeup.thread = 2;
  EXPECT_EQ(served.device(wakeup), kNone);
}

TEST(InterruptSources, AreOfTheirNumbers) {
  const auto sources = [](uint16_t kind, std::initializer_list<uint16_t> numbers) {
    std::string names;
    for (const uint16_t number : numbers)
      names += std::string(source_name(source_of(kind | number))) + " ";
    return names;
  };
  EXPECT_EQ(sources(FTRACE_INTERRUPT_SOFT, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}),
            "interrupt timer network network I/O I/O interrupt interrupt timer interrupt ");
  EXPECT_EQ(sources(FTRACE_INTERRUPT_VECTOR, {0xeb, 0xec, 0xed}), "interrupt timer interrupt ");
  EXPECT_EQ(sources(0, {0, 1, 200}), "I/O I/O I/O ");
  EXPECT_EQ(source_of(kNoInterrupt), InterruptSource::other);
}

TEST(InterruptSources, HaveAPhrase) {
  EXPECT_EQ(source_phrase(InterruptSource::timer), "a timer");
  EXPECT_EQ(source_phrase(InterruptSource::network), "the network");
  EXPECT_EQ(source_phrase(InterruptSource::device), "I/O");
  EXPECT_EQ(source_phrase(InterruptSource::other), "an interrupt");
}

TEST(InterruptSources, TwoCallsWaitForATimeThatAHardInterruptEnds) {
  EXPECT_TRUE(ends_sleep("nanosleep", FTRACE_WAKER_HARDIRQ));
  EXPECT_TRUE(ends_sleep("clock_nanosleep", FTRACE_WAKER_HARDIRQ));
  EXPECT_FALSE(ends_sleep("read", FTRACE_WAKER_HARDIRQ));
  EXPECT_FALSE(ends_sleep("", FTRACE_WAKER_HARDIRQ));
  for (const uint32_t context :
       {FTRACE_WAKER_TASK, FTRACE_WAKER_SOFTIRQ, FTRACE_WAKER_NMI, FTRACE_WAKER_UNKNOWN})
    EXPECT_FALSE(ends_sleep("nanosleep", context)) << context;
}

/// 11 is blocked from 200 to 300 in each case.
TEST(InterruptSources, AreTheCausesOfABlockOnThePath) {
  struct Case {
    uint16_t interrupt, call;
    uint32_t context;
    const char *cause;
  };
  constexpr uint16_t kNone16 = kNoInterrupt, kNanosleep = FTRACE_CALL_NATIVE + 35, kRead = 0;
  for (const auto &[interrupt, call, context, cause] : std::initializer_list<Case>{
           {kLocalTimer, kRead, FTRACE_WAKER_HARDIRQ, "timer"},
           {FTRACE_INTERRUPT_SOFT | 3, kRead, FTRACE_WAKER_SOFTIRQ, "network"},
           {FTRACE_INTERRUPT_SOFT | 4, kRead, FTRACE_WAKER_SOFTIRQ, "io"},
           {FTRACE_INTERRUPT_SOFT | 9, kRead, FTRACE_WAKER_NMI, "interrupt"},
           {FTRACE_INTERRUPT_SOFT | 9, kNanosleep, FTRACE_WAKER_HARDIRQ, "interrupt"},
           {kNone16, kRead, FTRACE_WAKER_HARDIRQ, "interrupt"},
           {kNone16, kNanosleep, FTRACE_WAKER_HARDIRQ, "timer"},
           {FTRACE_INTERRUPT_SOFT | 3, kRead, FTRACE_WAKER_UNKNOWN, "blocked"},
       }) {
    test::TempDir dir;
    test::TraceBuilder trace(dir.path());
    trace.json(R"({"version": 1, "machine": "x86_64"})");
    auto &cpu = trace.cpu(0).at(50).id(1, 11, 11, "a").snapshot(1, 1, 0).at(100).start().at(200);
    cpu.record(uint16_t(FTrace_EVT_task_sleep | FTRACE_CALL_CODE(uint32_t(call))), 1,
               uint32_t(FTRACE_OFFCPU_SLEEP) << FTRACE_REASON_SHIFT |
                   FTRACE_CALL_PAR2(uint32_t(call)));
    cpu.at(300);
    if (interrupt != kNoInterrupt)
      cpu.record(FTrace_EVT_interrupt_start, interrupt);
    cpu.activate(1, 0, context).dispatch(1).at(400).stop();
    trace.write();
    EXPECT_EQ(test::path_of(dir.path(), {11, {}}),
              (std::vector<std::string>{"11 running 100-200", fmt::format("11 {} 200-300", cause),
                                        "11 running 300-400"}))
        << interrupt << " in a context of " << context;
  }
}

TEST(PathOfWaits, OnlyAWaitThatFollowsAPreemptionIsPreempted) {
  test::TempDir dir;
  test::TraceBuilder trace(dir.path());
  trace.json(test::kHolders);
  auto &cpu = trace.cpu(0).at(50).id(1, 11, 11, "a").snapshot(1, 1, 0).at(100).start();
  cpu.at(200).epilogue(1, 0).at(250).dispatch(1);
  cpu.at(300).epilogue(1, 0, FTRACE_OFFCPU_YIELDED).at(350).dispatch(1);
  cpu.at(400).sleep(1).at(450).activate(1, 0, FTRACE_WAKER_HARDIRQ).at(480).dispatch(1);
  cpu.at(500).stop();
  trace.write();
  test::CollectingSink sink;
  const auto source = open_trace({{dir.path()}}, sink);
  CriticalPath path = critical_path(*source, {}, {}, {11, {}});
  std::vector<uint64_t> preempted, others;
  path.for_each([&](const PathSegment &segment) {
    if (segment.cause == Cause::waiting)
      (segment.preempted ? preempted : others).push_back(segment.from);
  });
  EXPECT_EQ(preempted, std::vector<uint64_t>{200});
  EXPECT_EQ(others, (std::vector<uint64_t>{300, 450}));
}

} // namespace
} // namespace ovnitrace
