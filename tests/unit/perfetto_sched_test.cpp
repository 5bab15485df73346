// SPDX-License-Identifier: BSD-2-Clause
// `ovnitrace export --to perfetto`: who runs where, who wakes whom, and who there is.
#include "emulator/base/error.h"
#include "emulator/slices/slicer.h"
#include "tests/unit/support/cases.h"
#include "tests/unit/support/perfetto_rig.h"
#include "tests/unit/support/random_schedule.h"

#include <random>

namespace ovnitrace {
namespace {

using test::PerfettoRig;
using test::PerfettoTrace;
using test::TraceBuilder;

class PerfettoSched : public PerfettoRig {
protected:
  /// "300 tid 22 woken by 11 flags 0 on 0", flags - where the event has none.
  static Texts texts(const std::vector<PerfettoTrace::Waking> &wakings) {
    Texts all;
    for (const auto &waking : wakings)
      all.push_back(fmt::format(
          "{} tid {} woken by {} flags {} on {}", waking.time, waking.tid, waking.waker,
          waking.flags ? std::to_string(*waking.flags) : std::string("-"), waking.target_cpu));
    return all;
  }
  using PerfettoRig::texts;
};

TEST_F(PerfettoSched, ARunEndsInTheStateThatTheKernelReports) {
  auto &cpu = trace.cpu(0).at(100).start().id(1, 11, 11, "a").id(2, 22, 22, "b");
  cpu.dispatch(1).at(200).epilogue(1, 22).dispatch(2);
  cpu.at(300).sleep(2, 11, FTRACE_OFFCPU_DISK).dispatch(1);
  cpu.at(400).epilogue(1, 0, FTRACE_OFFCPU_YIELDED).at(420).dispatch(1).at(450).sleep(1);
  uint64_t time = 500;
  for (uint32_t reason :
       {FTRACE_OFFCPU_STOPPED, FTRACE_OFFCPU_TRACED, FTRACE_OFFCPU_PARKED, FTRACE_OFFCPU_IDLE}) {
    cpu.at(time).activate(1).at(time + 1).dispatch(1).at(time + 2).sleep(1, 0, reason);
    time += 10;
  }
  cpu.at(600).activate(1).at(610).dispatch(1).at(620).end(1, 11).at(700).stop();
  const PerfettoTrace perfetto = exported();
  EXPECT_EQ(texts(perfetto.runs),
            (Texts{"100-200 cpu 0 tid 11 then 256", "200-300 cpu 0 tid 22 then 2",
                   "300-400 cpu 0 tid 11 then 0", "420-450 cpu 0 tid 11 then 1",
                   "501-502 cpu 0 tid 11 then 4", "511-512 cpu 0 tid 11 then 8",
                   "521-522 cpu 0 tid 11 then 64", "531-532 cpu 0 tid 11 then 128",
                   "610-620 cpu 0 tid 11 then 16"}));
  EXPECT_EQ(result.sched.runs, 9u);
  EXPECT_EQ(perfetto.runs.front().name, "a");
  EXPECT_EQ(perfetto.threads.at(22).name, "b");
}

TEST_F(PerfettoSched, ARunThatTheEndCutsOffIsNotEnded) {
  trace.cpu(0).at(100).start().id(1, 11, 11, "a").at(150).dispatch(1).at(200).stop();
  EXPECT_EQ(texts(exported().runs), (Texts{"150- cpu 0 tid 11 then -1"}));
  Cut cut;
  cut.from = 60;
  cut.to = 70;
  EXPECT_EQ(texts(exported(cut).runs), (Texts{"160- cpu 0 tid 11 then -1"}));
}

TEST_F(PerfettoSched, ThePriorityComesFromTheDispatch) {
  auto &cpu = trace.cpu(0).at(100).start().id(1, 11, 11, "a");
  cpu.dispatch(1, 120 + FTRACE_PRIO_BIAS).at(110).sleep(1).activate(1);
  cpu.at(120).dispatch(1, FTRACE_PRIO_BIAS - 1).at(130).sleep(1).activate(1);
  cpu.at(140).dispatch(1).at(150).stop();
  const PerfettoTrace perfetto = exported();
  std::vector<int32_t> priorities;
  for (const auto &run : perfetto.runs)
    priorities.push_back(run.priority);
  EXPECT_EQ(priorities, (std::vector<int32_t>{120, -1, -2})) << "not known: a number of none";
}

TEST_F(PerfettoSched, AWakingHasTheNameAndPriorityOfTheWokenThread) {
  auto &cpu = trace.cpu(0).at(100).start().id(1, 11, 11, "a").id(2, 22, 22, "b");
  cpu.dispatch(2, 90 + FTRACE_PRIO_BIAS).at(110).sleep(2, 11).dispatch(1);
  cpu.at(120).activate(2, 11).at(130).epilogue(1, 22).dispatch(2).at(140).sleep(2);
  cpu.at(150).activate(2, 0, FTRACE_WAKER_UNKNOWN).activate(1, 0, FTRACE_WAKER_SOFTIRQ);
  cpu.at(200).stop();
  Texts texts;
  const PerfettoTrace perfetto = exported();
  for (const auto &waking : perfetto.wakings)
    texts.push_back(fmt::format("{} {} {}", waking.time, waking.name, waking.priority));
  EXPECT_EQ(texts, (Texts{"120 b 90", "150 b -2", "150 a -2"}));
}

TEST_F(PerfettoSched, AWakingNamesWhoAndInWhichContext) {
  auto &cpu = trace.cpu(0).at(100).start().id(1, 11, 11, "a").id(2, 22, 22, "b").dispatch(1);
  cpu.at(110).dispatch(2).at(120).sleep(2).at(125).dispatch(1);
  trace.cpu(1).at(100).start().id(2, 22, 22, "b");
  const auto nap = [&](uint64_t time, uint32_t waker, uint32_t context) {
    cpu.at(time).activate(2, waker, context);
    trace.cpu(1).at(time + 1).dispatch(2).at(time + 2).sleep(2);
  };
  nap(130, 11, FTRACE_WAKER_TASK);
  nap(140, 77, FTRACE_WAKER_TASK); // not traced
  nap(150, 11, FTRACE_WAKER_HARDIRQ);
  nap(160, 77, FTRACE_WAKER_SOFTIRQ);
  nap(170, 11, FTRACE_WAKER_NMI);
  nap(180, 0, FTRACE_WAKER_UNKNOWN);
  cpu.at(200).stop();
  EXPECT_EQ(texts(exported().wakings),
            (Texts{"130 tid 22 woken by 11 flags 0 on 0", "140 tid 22 woken by 77 flags - on 1",
                   "150 tid 22 woken by 11 flags 8 on 1", "160 tid 22 woken by 11 flags 16 on 1",
                   "170 tid 22 woken by 11 flags 72 on 1", "180 tid 22 woken by 0 flags - on 1"}));
  EXPECT_EQ(result.sched.wakeups, 6u);
  Cut cut;
  cut.tids = {22};
  const PerfettoTrace alone = exported(cut);
  EXPECT_EQ(texts(alone.wakings).front(), "130 tid 22 woken by 11 flags - on 0")
      << "the waker is not shown on its CPU";
  EXPECT_TRUE(alone.runs_of(11).empty());
}

TEST_F(PerfettoSched, AWakerThatIsNotTracedRunsForTheInstantOfItsWakeup) {
  trace.json(
      R"({"version": 1, "peers": [{"tid": 77, "pid": 77, "name": "client", "since_ns": 1}]})");
  auto &cpu = trace.cpu(0).at(100).start().id(1, 11, 11, "a").dispatch(1);
  cpu.at(110).sleep(1, 77).at(120).activate(1, 77).at(121).dispatch(1, 0);
  cpu.at(130).sleep(1, 0).at(140).activate(1, 77, FTRACE_WAKER_SOFTIRQ).at(150).dispatch(1);
  cpu.at(160).sleep(1, 0).at(170).activate(1, 0, FTRACE_WAKER_HARDIRQ).at(180).dispatch(1);
  cpu.at(190).sleep(1, 77).at(190).activate(1, 77).at(200).stop();
  const PerfettoTrace perfetto = exported();
  EXPECT_EQ(texts(perfetto.runs),
            (Texts{"100-110 cpu 0 tid 11 then 1", "119-121 cpu 0 tid 77 then 512",
                   "121-130 cpu 0 tid 11 then 1", "150-160 cpu 0 tid 11 then 1",
                   "180-190 cpu 0 tid 11 then 1", "190-191 cpu 0 tid 77 then 512"}));
  EXPECT_EQ(texts(perfetto.wakings),
            (Texts{"118 tid 77 woken by 0 flags - on 0", "120 tid 11 woken by 77 flags 0 on 0",
                   "140 tid 11 woken by 0 flags 16 on 0", "170 tid 11 woken by 0 flags 8 on 0",
                   "190 tid 11 woken by 77 flags 0 on 0"}))
      << "the first only makes it runnable";
  EXPECT_EQ(texts(perfetto.slices, "Wakers"),
            (Texts{"120 Wakers that are not traced: client (77)",
                   "190 Wakers that are not traced: client (77)"}));
  EXPECT_EQ(perfetto.runs_of(77).front().name, "client");
}

TEST_F(PerfettoSched, AnOutsideWakerLeavesTheRunThatFollowsWhole) {
  auto &cpu = trace.cpu(0).at(100).start().id(1, 11, 11, "a").dispatch(1).at(110).sleep(1);
  cpu.at(120).activate(1, 77).dispatch(1).at(130).sleep(1).at(200).stop();
  EXPECT_EQ(texts(exported().runs),
            (Texts{"100-110 cpu 0 tid 11 then 1", "119-120 cpu 0 tid 77 then 512",
                   "120-130 cpu 0 tid 11 then 1"}));
  EXPECT_EQ(result.sched.doubled, 0u);
}

TEST_F(PerfettoSched, ABlockedThreadNamesItsCall) {
  trace.json(R"({"version": 1, "machine": "x86_64"})");
  auto &cpu = trace.cpu(0).at(100).start().id(1, 11, 11, "a");
  uint64_t time = 100;
  for (const uint32_t call : {2, 2 + 202, 2, 0}) { // read, futex, read, not known
    cpu.at(time + 10).dispatch(1).at(time + 11);
    cpu.record(uint16_t(FTrace_EVT_task_sleep | call >> 4 << 8), 1,
               FTRACE_OFFCPU_SLEEP << FTRACE_REASON_SHIFT | call << 28);
    cpu.at(time += 15).activate(1);
  }
  cpu.at(200).stop();
  EXPECT_EQ(exported().blocked, (Texts{"115 tid 11 read", "130 tid 11 futex", "145 tid 11 read"}));
}

TEST_F(PerfettoSched, ThreadsAreCreatedByWhomTheyWere) {
  auto &cpu = trace.cpu(0).at(100).start().id(1, 11, 11, "a").dispatch(1);
  cpu.at(110).id(2, 12, 11, "t", 110).parent(2, 11, 110).create(2, 12);
  cpu.at(120).id(3, 33, 33, "p", 120).parent(3, 11, 120).create(3, 33);
  cpu.at(130).id(4, 44, 44, "orphan", 130).create(4, 44);
  cpu.at(135).id(5, 55, 44, "unseen", 132).at(136).epilogue(1, 55).dispatch(5);
  cpu.at(140).record(FTrace_EXT_exec, 3, 33).at(200).stop();
  trace.json(R"({"version": 1, "peers": [{"tid": 7, "pid": 7, "name": "old", "since_ns": 1},
                 {"tid": 7, "pid": 7, "name": "new", "since_ns": 2},
                 {"tid": 12, "pid": 11, "name": "traced", "since_ns": 1}]})");
  const PerfettoTrace perfetto = exported();
  ASSERT_EQ(perfetto.created.size(), 2u);
  const auto &thread = perfetto.created[0], &process = perfetto.created[1];
  EXPECT_TRUE(thread.time == 110 && thread.tid == 12 && thread.creator == 11 && thread.thread &&
              thread.name == "t");
  EXPECT_TRUE(process.time == 120 && process.tid == 33 && process.creator == 11 &&
              !process.thread && process.name == "p");
  EXPECT_EQ(perfetto.renamed.at(33), "p");
  std::string there;
  for (const auto &[tid, info] : perfetto.threads)
    there += fmt::format("{} {} {}, ", tid, info.pid, info.name);
  EXPECT_EQ(there, "7 7 new, 11 11 a, 44 44 orphan, 55 44 unseen, ");
  EXPECT_EQ(perfetto.processes.at(11), "a");
  EXPECT_EQ(perfetto.processes.at(44), "orphan");
}

TEST_F(PerfettoSched, AProcessHasTheNameOfTheLastOneThatUsedThePid) {
  auto &cpu = trace.cpu(0).at(100).start().id(1, 300, 300, "old").id(2, 300, 300, "new", 500);
  cpu.dispatch(1).at(400).end(1).at(500).dispatch(2).at(900).stop();
  EXPECT_EQ(exported().processes.at(300), "new") << "it is written when it is born";
  Cut late;
  late.from = 700;
  EXPECT_EQ(exported(late).processes.at(300), "new");
}

TEST_F(PerfettoSched, NamesAreUtf8WhateverTheyWere) {
  auto &cpu = trace.cpu(0).at(100).start().id(1, 11, 11, "\x1b[31m\xff\xc3");
  cpu.dispatch(1).id(2, 22, 22, "\xe2\x80\xae half \xe2\x82").at(110).epilogue(1, 22).dispatch(2);
  cpu.at(120).sleep(2).at(200).stop();
  TraceInfo info;
  info.command = {"a\nb", "\xff"};
  info.host = "\x80";
  info.machine = "\xfe";
  info.kernel = "6.1\xfe";
  const PerfettoTrace perfetto = exported({}, info); // the reader throws for what is not
  EXPECT_EQ(perfetto.threads.at(11).name, "?[31m??");
  EXPECT_EQ(perfetto.runs.back().name, "? half ??");
  EXPECT_EQ(perfetto.release, "6.1?");
  EXPECT_EQ(perfetto.slices.front().name, "a?b ?");
}

TEST_F(PerfettoSched, UsesTheClockOfTheTrace) {
  trace.cpu(0).at(1000).start().at(2000).stop();
  TraceInfo info;
  info.to_wall_ns = 5000;
  info.kernel = "4.9.0"; // numbers states otherwise
  const PerfettoTrace perfetto = exported({}, info);
  EXPECT_EQ(perfetto.clocks, (std::map<uint64_t, uint64_t>{{1, 6000}, {3, 1000}, {6, 1000}}));
  EXPECT_EQ(perfetto.release, "4.14");
  EXPECT_TRUE(perfetto.runs.empty() && perfetto.wakings.empty() && perfetto.threads.empty());
  ASSERT_EQ(perfetto.slices.size(), 1u) << "the range";
  EXPECT_EQ(perfetto.slices[0].start, 1000u);
  EXPECT_EQ(perfetto.slices[0].end, 2000u);
  EXPECT_EQ(exported().clocks.count(1), 0u) << "what is not known is not there";
}

/// What Perfetto shows on a CPU at each instant is what runs there by the slices.
TEST_F(PerfettoSched, EachInstantOfAnyTraceShowsWhoRuns) {
  using Shown = std::map<std::pair<uint32_t, uint64_t>, uint32_t>; // tid by CPU and time
  struct Runs final : SliceSink {
    void on_slice(const Slice &slice) override {
      for (uint64_t t = slice.start; slice.state == ThreadState::Running && t < slice.end; t++)
        at[{slice.cpu, t}] = slice.thread;
    }
    Shown at;
  };
  size_t instants = 0;
  for (unsigned seed = 0; seed < test::cases(70); seed++) {
    std::mt19937 random(seed);
    trace = TraceBuilder(dir.path());
    const uint64_t end = test::random_schedule(trace, random);
    Cut cut;
    if (seed % 3 == 1)
      cut.from = random() % 200, cut.to = cut.from + random() % 300;
    cut.from = std::min(cut.from, end - 100);
    const uint64_t last = cut.to == UINT64_MAX ? end : std::min(end, 100 + cut.to);
    const PerfettoTrace perfetto = exported(cut);
    const auto source = open_trace({{dir.path()}}, sink);
    Runs expected;
    replay_slices(*source, cut, expected);
    for (auto &[place, thread] : expected.at)
      thread = source->catalog().threads[thread].tid;
    Shown shown;
    for (const auto &run : perfetto.runs)
      for (uint64_t t = run.start; t < std::min(run.end, last); t++)
        ASSERT_TRUE(shown.emplace(std::pair(run.cpu, t), run.tid).second) << "seed " << seed;
    ASSERT_EQ(shown, expected.at) << "seed " << seed;
    instants += shown.size();
  }
  EXPECT_GT(instants, 10000u);
}

/// More threads than a bundle remembers the names of, and more switches than it holds.
TEST_F(PerfettoSched, ManyPacketsAreOneTrace) {
  constexpr uint16_t kThreads = 200;
  constexpr uint64_t kRuns = 9000;
  auto &cpu = trace.cpu(0).at(0).start();
  for (uint16_t n = 1; n <= kThreads; n++)
    cpu.id(n, 1000 + n, 1000, "t" + std::to_string(n));
  std::mt19937 random(1);
  std::vector<uint16_t> order;
  for (uint64_t n = 0; n < kRuns; n++) {
    order.push_back(uint16_t(1 + random() % kThreads));
    cpu.at(1 + 10 * n).dispatch(order.back()).at(6 + 10 * n).epilogue(order.back());
  }
  cpu.at(10 * kRuns).stop();
  const PerfettoTrace perfetto = exported();
  ASSERT_EQ(perfetto.runs.size(), kRuns);
  for (uint64_t n = 0; n < kRuns; n++) {
    ASSERT_EQ(perfetto.runs[n].tid, 1000 + order[n]);
    ASSERT_EQ(perfetto.runs[n].name, "t" + std::to_string(order[n]));
    ASSERT_EQ(perfetto.runs[n].start, 1 + 10 * n);
    ASSERT_EQ(perfetto.runs[n].end, 6 + 10 * n);
  }
}

TEST_F(PerfettoSched, TraceThatPerfettoRefusesIsNotWritten) {
  trace.cpu(1024).at(100).start().id(1, 11, 11, "a").dispatch(1).at(200).stop();
  EXPECT_THROW(exported(), Error);
  EXPECT_TRUE(std::filesystem::is_empty(out.path()));
  const test::TempDir other;
  TraceBuilder second(other.path());
  second.cpu(0).at(100).start().at(200).stop();
  second.write();
  const auto both = open_trace({{other.path()}, {other.path()}}, sink);
  EXPECT_THROW(exported_from(*both), Error);
  const auto one = open_trace({{other.path()}}, sink);
  EXPECT_THROW(perfetto::write_perfetto(*one, {}, {}, out / "no/such/directory"), Error);
}

TEST_F(PerfettoSched, ADamagedFileIsShownAsFarAsItGoes) {
  auto &cpu = trace.cpu(0).at(100).start().id(1, 11, 11, "a").dispatch(1).at(150).sleep(1);
  cpu.at(160).activate(1).at(170).dispatch(1).at(200).stop();
  trace.write();
  std::filesystem::resize_file(trace.file(0), std::filesystem::file_size(trace.file(0)) - 40);
  const auto source = open_trace({{dir.path()}}, sink);
  const PerfettoTrace perfetto = exported_from(*source);
  EXPECT_EQ(texts(perfetto.runs).front(), "100-150 cpu 0 tid 11 then 1");
  EXPECT_GT(sink.damage(), 0u);
}

} // namespace
} // namespace ovnitrace
