// SPDX-License-Identifier: BSD-2-Clause
// The critical path: what its records say of work items, of the holders of a CPU and of sections.
#include "emulator/base/error.h"
#include "emulator/critical/path.h"
#include "tests/unit/support/collecting_sink.h"
#include "tests/unit/support/path_texts.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <gtest/gtest.h>
#include <ovnitrace/control.h>

#include <functional>

namespace ovnitrace {
namespace {

using test::ChunkBuilder;
using test::kHolders;
using test::path_of;
using Texts = std::vector<std::string>;

class PathHistory : public ::testing::Test {
protected:
  PathHistory() : trace(dir.path()) { trace.json(kHolders); }

  Texts path(const PathQuery &query, const Cut &cut = {}) {
    trace.write();
    return path_of(dir.path(), query, cut);
  }
  std::vector<CriticalPath> paths(size_t more, const Cut &cut = {}) {
    trace.write();
    return critical_paths(*open_trace({{dir.path()}}, sink), {}, cut, {}, more);
  }

  test::TempDir dir;
  test::TraceBuilder trace;
  test::CollectingSink sink;
};

/// 11 is blocked until a wakeup, from a CPU on which the kernel worker 33 runs. 22 runs all the
/// time, on another CPU.
class PathOfWork : public PathHistory {
protected:
  static constexpr uint64_t kWakeup = 300'000, kEnd = 400'000;

  ChunkBuilder &begin() {
    trace.cpu(1).at(50).id(1, 11, 11, "a").snapshot(1, 2, 1).at(100).start();
    trace.cpu(2).at(50).id(2, 22, 22, "b").snapshot(2, 1, 2).at(100).start().at(kEnd).stop();
    trace.cpu(1).at(kWakeup).dispatch(1).at(kEnd).stop();
    auto &worker = trace.cpu(0).at(50).id(1, 11, 11, "a").id(3, 33, 33, "kworker/0:0");
    return worker.snapshot(3, 1, 0).at(kWakeup);
  }
  Texts path_of_11(ChunkBuilder &worker) {
    worker.at(kEnd).stop();
    return path({11, {}});
  }
};

TEST_F(PathOfWork, TheAgeOfAnItemCanBeInMicroseconds) {
  auto &worker = begin().record(FTrace_EXT_work, 1, 22);
  worker.record(FTrace_EXT_work_age, 1, FTRACE_WORK_MICROSECONDS | 80).activate(1, 33);
  EXPECT_EQ(path_of_11(worker), (Texts{"22 running 100-220000", "22 worker 220000-300000 peer=33",
                                       "11 running 300000-400000"}));
}

TEST_F(PathOfWork, AnItemThatWasQueuedAtTheWakeupHasTheWholeBlock) {
  auto &worker = begin().record(FTrace_EXT_work, 1, 22);
  worker.record(FTrace_EXT_work_age, 1, 0).activate(1, 33);
  EXPECT_EQ(path_of_11(worker),
            (Texts{"22 worker 100-300000 peer=33", "11 running 300000-400000"}));
}

TEST_F(PathOfWork, AnItemThatIsOlderThanTheTraceIsIgnored) {
  auto &worker = begin().record(FTrace_EXT_work, 1, 22);
  worker.record(FTrace_EXT_work_age, 1, kWakeup + 1).activate(1, 99);
  EXPECT_EQ(path_of_11(worker),
            (Texts{"11 outside 100-300000 peer=99", "11 running 300000-400000"}));
}

TEST_F(PathOfWork, AnAgeWithoutAQueuerIsIgnored) {
  auto &worker = begin().record(FTrace_EXT_work_age, 1, 80).activate(1, 99);
  EXPECT_EQ(path_of_11(worker),
            (Texts{"11 outside 100-300000 peer=99", "11 running 300000-400000"}));
}

TEST_F(PathOfWork, AnItemDoesNotOwnAWakeupByAnInterrupt) {
  auto &worker = begin().record(FTrace_EXT_work, 1, 22);
  worker.record(FTrace_EXT_work_age, 1, 80).activate(1, 33, FTRACE_WAKER_HARDIRQ);
  EXPECT_EQ(path_of_11(worker), (Texts{"11 interrupt 100-300000", "11 running 300000-400000"}));
}

TEST_F(PathOfWork, AnItemIsOfOneWakeup) {
  auto &cpu = trace.cpu(0).at(50).id(1, 11, 11, "a").snapshot(1, 2, 0).at(100).start().at(200);
  cpu.record(FTrace_EXT_work, 1, 44).record(FTrace_EXT_work_age, 1, 30).activate(1, 33);
  cpu.dispatch(1).at(300).sleep(1).at(400).activate(1, 99).dispatch(1).at(500).stop();
  EXPECT_EQ(path({11, {}}),
            (Texts{"11 outside 100-170 peer=44", "11 worker 170-200 peer=33", "11 running 200-300",
                   "11 outside 300-400 peer=99", "11 running 400-500"}));
}

TEST_F(PathOfWork, AnItemThatTheThreadQueuedItselfHasTheWholeBlock) {
  auto &cpu = trace.cpu(0).at(50).id(1, 11, 11, "a").snapshot(1, 2, 0).at(100).start().at(200);
  cpu.record(FTrace_EXT_work, 1, 11).record(FTrace_EXT_work_age, 1, 30).activate(1, 33);
  cpu.dispatch(1).at(300).stop();
  EXPECT_EQ(path({11, {}}), (Texts{"11 worker 100-200 peer=33", "11 running 200-300"}));
}

TEST_F(PathOfWork, AnUntracedWorkerIsKnownByItsName) {
  trace.json(R"({"version": 1, "peers": [{"tid": 33, "pid": 33, "name": "kworker/0:1"},
                                         {"tid": 44, "pid": 44, "name": "worker"}]})");
  auto &cpu = trace.cpu(0).at(50).id(1, 11, 11, "a").snapshot(1, 2, 0).at(100).start().at(200);
  cpu.activate(1, 33).dispatch(1).at(300).sleep(1).at(400).activate(1, 44).dispatch(1);
  cpu.at(500).stop();
  EXPECT_EQ(path({11, {}}), (Texts{"11 unowned 100-200 peer=33", "11 running 200-300",
                                   "11 outside 300-400 peer=44", "11 running 400-500"}));
}

TEST_F(PathOfWork, AThreadOfAProgramIsNoWorkerWhateverItsName) {
  for (const uint32_t parent : {0u, 2u, 22u}) {
    trace = test::TraceBuilder(dir.path());
    trace.json(kHolders);
    trace.cpu(1).at(50).id(1, 11, 11, "a").snapshot(1, 2, 1).at(100).start();
    trace.cpu(1).at(300).dispatch(1).at(400).stop();
    auto &other = trace.cpu(0).at(50).id(1, 11, 11, "a").id(3, 33, 33, "kworker/render");
    other.parent(3, parent).snapshot(3, 2, 0).at(100).start().at(200);
    other.activate(3, 99, FTRACE_WAKER_HARDIRQ).dispatch(3).at(300).activate(1, 33).at(400).stop();
    const bool worker = parent != 22;
    EXPECT_EQ(path({11, {}}), (Texts{worker ? "11 unowned 100-200 peer=33" : "33 interrupt 100-200",
                                     "33 running 200-300", "11 running 300-400"}))
        << parent;
  }
}

TEST_F(PathOfWork, AnUntracedThreadInACgroupIsNoWorkerWhateverItsName) {
  for (const int cgroup : {0, 1, 2, 3}) {
    trace = test::TraceBuilder(dir.path());
    trace.json(R"({"version": 1, "cgroups": ["kernel", "/a", ""],
                   "peers": [{"tid": 33, "pid": 33, "name": "kworker/x", "cgroup": )" +
               std::to_string(cgroup) + "}]}");
    auto &cpu = trace.cpu(0).at(50).id(1, 11, 11, "a").snapshot(1, 2, 0).at(100).start().at(200);
    cpu.activate(1, 33).dispatch(1).at(300).stop();
    EXPECT_EQ(path({11, {}})[0],
              cgroup == 2 ? "11 outside 100-200 peer=33" : "11 unowned 100-200 peer=33")
        << cgroup;
  }
}

/// b leaves CPU 0 to the untraced 77, and a waits there from `woken` to 800.
class PathOfHolder : public PathHistory {
protected:
  void wait(uint64_t woken, const std::function<void(ChunkBuilder &)> &meanwhile = {}) {
    auto &cpu = trace.cpu(0).at(50).id(1, 11, 11, "a").id(2, 22, 11, "b");
    cpu.snapshot(1, 2, 0).snapshot(2, 1, 0).at(100).start().at(200).sleep(2, 77);
    if (meanwhile)
      meanwhile(cpu.at(400));
    cpu.at(800).dispatch(1).at(900).stop();
    auto &other = trace.cpu(1).at(50).id(1, 11, 11, "a").id(3, 33, 11, "c").snapshot(3, 1, 1);
    other.at(100).start().at(woken).activate(1, 33);
  }
  /// Without the part before the wait.
  Texts waits() {
    trace.cpu(1).at(900).stop();
    Texts texts;
    for (const std::string &text : path({11, {}}))
      if (text.starts_with("11 waiting"))
        texts.push_back(text);
    return texts;
  }
};

TEST_F(PathOfHolder, IsNotKnownIfTheTraceDoesNotSayWhoHasACpu) {
  trace.json(R"({"version": 1})");
  wait(500);
  EXPECT_EQ(waits(), Texts{"11 waiting 500-800"});
}

TEST_F(PathOfHolder, IsKnownDespiteALossOfOtherEvents) {
  wait(250, [](ChunkBuilder &cpu) {
    cpu.record(FTrace_EVT_blackout_start, FTRACE_BLACKOUT_FAMILIES).at(450);
    cpu.record(FTrace_EVT_blackout_end, FTRACE_BLACKOUT_FAMILIES, 1);
  });
  EXPECT_EQ(waits(), Texts{"11 waiting 250-800 peer=77"});
}

TEST_F(PathOfHolder, IsNotKnownAfterALossOfSwitches) {
  wait(250, [](ChunkBuilder &cpu) {
    cpu.record(FTrace_EVT_blackout_start, 0).at(450).record(FTrace_EVT_blackout_end, 0, 1);
    cpu.at(600).activate(1, 33);
  });
  EXPECT_EQ(waits(), (Texts{"11 waiting 250-400 peer=77", "11 waiting 600-800"}));
}

TEST_F(PathOfHolder, ChangesDuringAWait) {
  wait(250);
  trace.cpu(1).at(400).record(FTrace_EXT_holder, 0, 88).at(500).record(FTrace_EXT_holder, 0, 0);
  EXPECT_EQ(waits(), (Texts{"11 waiting 250-400 peer=77", "11 waiting 400-500 peer=88",
                            "11 waiting 500-800 peer=0"}));
}

TEST_F(PathOfHolder, IsKnownUntilARegionStarts) {
  wait(250);
  trace.cpu(1).at(400).record(FTrace_EXT_region, 3, CONTROL_START << FTRACE_REGION_EVENT_SHIFT);
  EXPECT_EQ(waits(), (Texts{"11 waiting 250-400 peer=77", "11 waiting 400-800"}));
}

class PathOfSection : public PathHistory {
protected:
  void section(uint16_t cpu, uint64_t from, uint64_t to) {
    trace.cpu(cpu).at(from).record(FTrace_EVT_user_event_13, 0, 7);
    trace.cpu(cpu).at(to).record(FTrace_EVT_user_event_14, 0, 7);
  }
};

TEST_F(PathOfSection, IsOfTheThreadThatIsNamedOrThatTheCutKeeps) {
  trace.cpu(0).at(50).id(1, 11, 11, "a").snapshot(1, 1, 0).at(100).start();
  trace.cpu(1).at(50).id(1, 12, 11, "b").snapshot(1, 1, 1).at(100).start();
  section(0, 200, 300);
  section(1, 210, 250);
  trace.cpu(0).at(400).stop();
  trace.cpu(1).at(400).stop();
  EXPECT_EQ(path({{}, 7}), Texts{"11 running 200-300"});
  EXPECT_EQ(path({11, 7}), Texts{"11 running 200-300"});
  EXPECT_EQ(path({12, 7}), Texts{"12 running 210-250"});
  Cut cut;
  cut.comms = {"b"};
  EXPECT_EQ(path({{}, 7}, cut), Texts{"12 running 210-250"});
  EXPECT_EQ(path({11, 7}, cut), Texts{"11 running 200-300"}) << "the cut does not hide it";
}

TEST_F(PathHistory, TheDefaultIsAThreadThatRanEvenIfItHasEnded) {
  auto &cpu = trace.cpu(0).at(50).id(1, 11, 11, "a").id(2, 22, 22, "b");
  cpu.snapshot(1, 2, 0).snapshot(2, 1, 0).at(100).start().at(300).end(2).at(400).stop();
  EXPECT_EQ(path({}), Texts{"22 running 100-300"});
}

/// As on the page of a report.
TEST_F(PathHistory, MorePathsAreOfTheThreadsThatRanLongest) {
  auto &cpu = trace.cpu(0).at(50);
  cpu.id(1, 11, 11, "a")
      .id(2, 22, 22, "b")
      .id(3, 33, 33, "c")
      .id(4, 44, 44, "d")
      .id(5, 55, 55, "e");
  cpu.snapshot(1, 1, 0).snapshot(2, 2, 0).snapshot(3, 2, 0).snapshot(4, 2, 0).snapshot(5, 2, 0);
  cpu.at(100).start().at(200).sleep(1).activate(2, 0).dispatch(2).at(220).sleep(2);
  cpu.activate(3, 0).dispatch(3).at(270).sleep(3).activate(4, 0).dispatch(4).at(290).sleep(4);
  cpu.at(300).stop();
  const auto threads_of = [&](size_t more, const Cut &cut = {}) {
    std::vector<uint32_t> threads;
    for (const CriticalPath &path : paths(more, cut))
      threads.push_back(path.thread);
    return threads;
  };
  EXPECT_EQ(threads_of(0), (std::vector<uint32_t>{0}));
  EXPECT_EQ(threads_of(2), (std::vector<uint32_t>{0, 2, 1})) << "b and d ran equally long";
  EXPECT_EQ(threads_of(9), (std::vector<uint32_t>{0, 2, 1, 3})) << "e never ran";
  Cut cut;
  cut.tids = {22, 33};
  EXPECT_EQ(threads_of(9, cut), (std::vector<uint32_t>{2, 1}));
  std::vector<CriticalPath> all = paths(1);
  EXPECT_TRUE(all[0].guessed);
  EXPECT_FALSE(all[1].guessed) << "it was chosen";
  uint64_t sum = 0;
  all[1].for_each([&](const PathSegment &segment) { sum += segment.length(); });
  EXPECT_EQ(sum, 200u) << "its path covers the range too";
}

} // namespace
} // namespace ovnitrace
