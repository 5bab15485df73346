// SPDX-License-Identifier: BSD-2-Clause
// What `ovnitrace diff` measures of one run: causes, longest segments, losses and CPUs.
#include "emulator/diff/sentence.h"
#include "tests/unit/support/diff_rig.h"

#include <ovnitrace/control.h>

namespace ovnitrace {
namespace {

using test::ChunkBuilder;
using test::TraceBuilder;
using Kind = TimeCause::Kind;

constexpr uint64_t kMs = 1'000'000;

class DiffRuns : public test::DiffRig {
protected:
  const RunTimes &run(const std::function<void(TraceBuilder &)> &write,
                      const std::string &more = "") {
    add_a(trace(write, more));
    return runs.a.back();
  }
  /// Returns the times by cause in words.
  std::map<std::string, uint64_t> texts(const Times &times) const {
    std::map<std::string, uint64_t> texts;
    for (const auto &[cause, ns] : times)
      texts[cause_text(cause, runs.names)] += ns;
    return texts;
  }
  /// Preempts the thread of context 1.
  static void preempt(ChunkBuilder &cpu, uint16_t by, uint32_t tid, uint64_t from, uint64_t to) {
    cpu.at(from).epilogue(1, tid).dispatch(by).at(to).sleep(by, 11).dispatch(1);
  }
};

using Texts = std::map<std::string, uint64_t>;

TEST_F(DiffRuns, TheLongestSegmentOfACauseIsKept) {
  const RunTimes &of = run([](TraceBuilder &trace) {
    auto &cpu = trace.cpu(0).at(kMs).start().id(1, 11, 11, "app").id(2, 21, 21, "hog-1");
    cpu.id(3, 22, 22, "hog-2").dispatch(1);
    preempt(cpu, 2, 21, 4 * kMs, 6 * kMs);
    preempt(cpu, 3, 22, 8 * kMs, 13 * kMs);
    preempt(cpu, 2, 21, 14 * kMs, 18 * kMs);
    preempt(cpu, 3, 22, 20 * kMs, 25 * kMs);
    cpu.at(26 * kMs).end(1, 11).at(30 * kMs).stop();
  });
  EXPECT_EQ(of.wall, 25 * kMs);
  EXPECT_EQ(of.from, kMs);
  const TimeCause preempted = {.group = of.of, .kind = Kind::preempted, .culprit = "hog-*"};
  EXPECT_EQ(of.path.at(preempted), 16 * kMs);
  EXPECT_EQ(of.longest.at(preempted).from, 8 * kMs) << "the first of two";
  EXPECT_EQ(of.longest.at(preempted).to, 13 * kMs);
  EXPECT_EQ(of.longest.at({.group = of.of, .kind = Kind::running}).from, kMs);
}

TEST_F(DiffRuns, EachNameOfAPeerIsACause) {
  const RunTimes &of = run(
      [](TraceBuilder &trace) {
        auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "app").dispatch(1);
        cpu.at(4 * kMs).epilogue(1, 77).at(6 * kMs).dispatch(1);
        cpu.at(8 * kMs).epilogue(1, 77).at(11 * kMs).dispatch(1);
        cpu.at(12 * kMs).end(1, 11).stop();
      },
      R"(, "peers": [{"tid": 77, "pid": 77, "name": "early", "since_ns": 1},
                     {"tid": 77, "pid": 77, "name": "late", "since_ns": 7000000}])");
  const auto preempted = [&](const char *culprit) {
    return TimeCause{.group = of.of, .kind = Kind::preempted, .culprit = culprit};
  };
  for (const Times *times : {&of.path, &of.life}) {
    EXPECT_EQ(times->at(preempted("early")), 2 * kMs);
    EXPECT_EQ(times->at(preempted("late")), 3 * kMs);
  }
}

TEST_F(DiffRuns, TheLongestSegmentMayBeALaterOne) {
  const RunTimes &of = run([](TraceBuilder &trace) {
    auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "app").id(2, 21, 21, "hog").dispatch(1);
    preempt(cpu, 2, 21, 1 * kMs, 2 * kMs);
    preempt(cpu, 2, 21, 5 * kMs, 7 * kMs);
    cpu.at(8 * kMs).end(1, 11).at(9 * kMs).stop();
  });
  EXPECT_EQ(of.longest.at({.group = of.of, .kind = Kind::running}).from, 2 * kMs);
  EXPECT_EQ(of.longest.at({.group = of.of, .kind = Kind::preempted, .culprit = "hog"}).from,
            5 * kMs);
}

TEST_F(DiffRuns, EachEndOfABlockIsACause) {
  const RunTimes &of = run(
      [](TraceBuilder &trace) {
        auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "app").dispatch(1);
        uint64_t time = 0;
        const auto block = [&](uint64_t ns) -> ChunkBuilder & {
          cpu.at(time += kMs).sleep(1);
          return cpu.at(time += ns);
        };
        block(2).record(FTrace_EXT_device, 1, 8 << 20).activate(1, 0, FTRACE_WAKER_HARDIRQ);
        cpu.dispatch(1);
        block(3).record(FTrace_EXT_device, 1, 9 << 20).activate(1, 0, FTRACE_WAKER_HARDIRQ);
        cpu.dispatch(1);
        block(4).activate(1, 0, FTRACE_WAKER_HARDIRQ).dispatch(1);
        block(5).activate(1, 77).dispatch(1);
        block(6).record(FTrace_EXT_work, 1, 77).record(FTrace_EXT_work_age, 1, 1);
        cpu.activate(1, 78).dispatch(1);
        cpu.at(time += kMs).epilogue(1, 0, FTRACE_OFFCPU_THROTTLED);
        cpu.at(time += 7).dispatch(1);
        block(8).activate(1, 0, FTRACE_WAKER_HARDIRQ);
        cpu.at(time += 9).dispatch(1);
        cpu.at(time + kMs).end(1, 11).at(time + 2 * kMs).stop();
      },
      R"(, "devices": [{"device": 8388608, "name": "sda"}],
           "peers": [{"tid": 77, "pid": 77, "name": "cron-5"},
                     {"tid": 78, "pid": 78, "name": "kworker/0:1"}])");
  EXPECT_EQ(texts(of.path), (Texts{{"blocked woken by 9:0", 3},
                                   {"blocked woken by an interrupt", 4 + 8},
                                   {"blocked woken by cron-5", 5 + 5},
                                   {"blocked woken by kworker/0:1", 1},
                                   {"blocked woken by sda", 2},
                                   {"running", 8 * kMs},
                                   {"throttled", 7},
                                   {"waiting for an idle CPU", 9}}))
      << "cron-5 queued a work item 1 ns before its end";
  EXPECT_EQ(texts(of.life), (Texts{{"blocked in call not known woken by 9:0", 3},
                                   {"blocked in call not known woken by an interrupt", 4 + 8},
                                   {"blocked in call not known woken by cron-5", 5},
                                   {"blocked in call not known woken by kworker/0:1", 6},
                                   {"blocked in call not known woken by sda", 2},
                                   {"running", 8 * kMs},
                                   {"throttled", 7},
                                   {"waiting for an idle CPU", 9}}));
}

TEST_F(DiffRuns, TheFunctionWhereAGroupWasBlockedBelongsToTheCause) {
  const RunTimes &of = run(
      [](TraceBuilder &trace) {
        auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "app").dispatch(1);
        uint64_t time = 0;
        for (const uint32_t stack : {1, 2, 1, 0}) {
          cpu.at(time += kMs);
          if (stack)
            cpu.record(FTrace_EXT_stack, 1, stack);
          cpu.sleep(1);
          cpu.at(time += kMs).activate(1, 77).dispatch(1);
        }
        cpu.at(time + kMs).stop();
      },
      R"(, "options": {"stacks": "user"}, "stack_files": [{"path": "/opt/app"}],
           "stack_frames": [{"file": 0, "function": "load"}, {"file": 0, "function": "store"},
                            {"file": 0, "function": "main"}],
           "stacks": [{"user": [0, 2]}, {"user": [1, 2]}])");
  std::map<std::string, uint64_t> places;
  for (const auto &[cause, ns] : of.life)
    if (cause.kind == Kind::blocked)
      places[cause.at] += ns;
  EXPECT_EQ(places, (Texts{{"load", 2 * kMs}, {"store", kMs}, {"", kMs}}));
}

TEST_F(DiffRuns, OnlyThreadsWhoseStateWasLostAreLossy) {
  const RunTimes &of = run([](TraceBuilder &trace) {
    auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "app").dispatch(1).at(10 * kMs);
    cpu.blackout_start().at(11 * kMs).blackout_end(7).dispatch(1).at(20 * kMs).stop();
    auto &other = trace.cpu(1).at(0).start().id(2, 12, 11, "io").dispatch(2).at(20 * kMs);
    other.stop();
  });
  EXPECT_EQ(of.lossy, std::set<std::string>{of.of});
  EXPECT_EQ(of.lost, 7u);
  EXPECT_EQ(of.threads.size(), 2u);
  EXPECT_EQ(of.threads.at(of.of), 1u);
}

TEST_F(DiffRuns, NothingIsLostOutsideRegions) {
  const RunTimes &of = run(
      [](TraceBuilder &trace) {
        auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "app").at(kMs);
        cpu.record(FTrace_EXT_region, 1, CONTROL_START << FTRACE_REGION_EVENT_SHIFT);
        cpu.snapshot(1, 1, 0).at(3 * kMs);
        cpu.record(FTrace_EXT_region, 1, CONTROL_STOP << FTRACE_REGION_EVENT_SHIFT);
        cpu.at(5 * kMs).stop();
      },
      R"(, "control": {"chains": [{"name": "", "text": "start:enter_func:f"}]})");
  EXPECT_TRUE(of.lossy.empty());
  EXPECT_TRUE(of.regions);
  EXPECT_EQ(of.wall, 2 * kMs);
}

TEST_F(DiffRuns, TimeIsStolenFromAllCpusTogether) {
  const RunTimes &of = run([](TraceBuilder &trace) {
    trace.cpu(0).at(10 * kMs).start().id(1, 11, 11, "app").dispatch(1).at(15 * kMs);
    trace.cpu(0).record(FTrace_EXT_steal, 0, 2000).at(20 * kMs).stop();
    trace.cpu(1).at(10 * kMs).start().at(15 * kMs).record(FTrace_EXT_steal, 0, 1000);
    trace.cpu(1).at(20 * kMs).stop();
  });
  EXPECT_DOUBLE_EQ(of.stolen, 0.15);
  EXPECT_EQ(of.khz, 0u) << "no frequency was recorded";
}

/// The trace begins at 2 ms. Another process executes something first.
TEST_F(DiffRuns, ARunStartsWithTheExecOfItsProgram) {
  const RunTimes &of = run([](TraceBuilder &trace) {
    auto &cpu = trace.cpu(0).at(2 * kMs).start().id(1, 11, 11, "app", 2 * kMs + 1);
    cpu.at(2 * kMs + 1).create(1, 11).activate_new(1, 1).dispatch(1);
    cpu.at(8 * kMs).record(FTrace_EXT_exec, 1, 11).at(9 * kMs).record(FTrace_EXT_exec, 1, 11);
    cpu.at(12 * kMs).end(1, 11).stop();
    auto &other = trace.cpu(1).at(2 * kMs).start().id(2, 22, 22, "sh").parent(2, 9).dispatch(2);
    other.at(5 * kMs).record(FTrace_EXT_exec, 2, 22).at(12 * kMs).stop();
  });
  EXPECT_EQ(of.from, 8 * kMs);
  EXPECT_EQ(of.thread, 0u);
  EXPECT_EQ(of.wall, 4 * kMs);
  EXPECT_EQ(runs.names.group_text(of.of), "app");
}

TEST_F(DiffRuns, OnlyACaptureOfRunningProcessesOrOfTheMachineIsAPart) {
  const auto is_part = [&](const std::string &description) {
    return run([&](TraceBuilder &trace) {
             trace.json(R"({"version": 1, "machine": "x86_64")" + description + "}");
             auto &cpu = trace.cpu(0).at(0).start().id(1, 11, 11, "app").dispatch(1).at(kMs);
             cpu.record(FTrace_EVT_user_event_13, 1, 7).at(3 * kMs);
             cpu.record(FTrace_EVT_user_event_14, 1, 7).at(5 * kMs).stop();
           })
        .part;
  };
  EXPECT_TRUE(is_part(R"(, "attached_pids": [11])"));
  EXPECT_TRUE(is_part(R"(, "all_threads": true)"));
  EXPECT_FALSE(is_part(R"(, "all_threads": true, "program_pid": 11)"));
  EXPECT_FALSE(is_part(""));
  query.section = 7;
  EXPECT_FALSE(is_part(R"(, "all_threads": true)")) << "a section is whole";
}

TEST_F(DiffRuns, AWaitCountsIfItWasSeenWhole) {
  const RunTimes &of = run([](TraceBuilder &trace) {
    auto &cpu = trace.cpu(0).at(50).id(1, 11, 11, "app");
    cpu.snapshot(1, uint32_t(ThreadState::Cooling), 0, FTRACE_OFFCPU_PREEMPTED).at(100).start();
    cpu.at(200).dispatch(1).at(300).epilogue(1, 22).at(310).dispatch(1).at(400).epilogue(1, 22);
    cpu.at(500).stop();
  });
  EXPECT_EQ(of.waits.at(of.of).count(), 1u) << "the first one began, and the last one ends, unseen";
  EXPECT_EQ(of.waits.at(of.of).max(), 10u);
}

/// The time that is not known is part of a run without regions.
TEST_F(DiffRuns, ABlockByAnyDeviceAndAnUnknownTimeAreCauses) {
  const RunTimes &of = run([](TraceBuilder &trace) {
    auto &cpu = trace.cpu(0).at(100).start().id(1, 11, 11, "app").at(150).dispatch(1);
    cpu.at(200).sleep(1).at(230).record(FTrace_EVT_interrupt_start, 17);
    cpu.activate(1, 0, FTRACE_WAKER_HARDIRQ).record(FTrace_EVT_interrupt_end, 17).dispatch(1);
    cpu.at(300).end(1, 11).stop();
  });
  EXPECT_EQ(texts(of.path),
            (Texts{{"blocked woken by I/O", 30}, {"not known", 50}, {"running", 120}}));
  EXPECT_EQ(of.wall, 200u);
}

TEST_F(DiffRuns, ABlockThatNobodyIsKnownToEndIsABlock) {
  const RunTimes &of = run([](TraceBuilder &trace) {
    auto &cpu = trace.cpu(0).at(100).start().id(1, 11, 11, "app").dispatch(1).at(200).sleep(1);
    cpu.at(230).activate(1, 0, FTRACE_WAKER_UNKNOWN).dispatch(1).at(300).end(1, 11).stop();
  });
  EXPECT_EQ(texts(of.path), (Texts{{"blocked woken by an unknown waker", 30}, {"running", 170}}));
}

TEST_F(DiffRuns, AFileThatIsMissingIsALoss) {
  const auto app = [](TraceBuilder &trace) {
    trace.cpu(0).at(100).start().id(1, 11, 11, "app").dispatch(1).at(300).end(1, 11).stop();
  };
  EXPECT_EQ(run(app, R"(, "cpus": 1)").lost, 0u);
  EXPECT_EQ(run(app, R"(, "cpus": 2)").lost, 1u) << "nobody knows of how many events";
}

/// NET_RX wakes the thread that waits for a packet.
TEST_F(DiffRuns, ABlockThatThePacketOfANetworkEndsIsACause) {
  constexpr uint16_t kNetRx = FTRACE_INTERRUPT_SOFT | 3;
  const RunTimes &of = run([](TraceBuilder &trace) {
    auto &cpu = trace.cpu(0).at(100).start().id(1, 11, 11, "app").dispatch(1).at(200).sleep(1);
    cpu.at(230).record(FTrace_EVT_interrupt_start, kNetRx).activate(1, 0, FTRACE_WAKER_SOFTIRQ);
    cpu.record(FTrace_EVT_interrupt_end, kNetRx).dispatch(1).at(300).end(1, 11).stop();
  });
  EXPECT_EQ(texts(of.path), (Texts{{"blocked woken by the network", 30}, {"running", 170}}));
}

} // namespace
} // namespace ovnitrace
