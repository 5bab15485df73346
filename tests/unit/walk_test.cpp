// SPDX-License-Identifier: BSD-2-Clause
// The critical path where it cannot go on to another thread, and at the edges of blocks.
#include "tests/unit/support/path_texts.h"
#include "tests/unit/support/temp_dir.h"
#include "tests/unit/support/trace_builder.h"

#include <gtest/gtest.h>

namespace ovnitrace {
namespace {

using test::TraceBuilder;
using Texts = std::vector<std::string>;

class WalkTest : public ::testing::Test {
protected:
  WalkTest() : trace(dir.path()) { trace.json(test::kHolders); }

  Texts path(uint32_t tid) {
    trace.write();
    return test::path_of(dir.path(), {tid, {}});
  }
  /// 11 is blocked from 200 to 300, when a kernel worker wakes it. Nothing says who queued the
  /// item. The worker runs from `from` to `to`.
  void worker(uint64_t from, uint64_t to) {
    trace = TraceBuilder(dir.path());
    trace.json(test::kHolders);
    auto &cpu = trace.cpu(0).at(50).id(1, 11, 11, "a").snapshot(1, 1, 0).at(100).start();
    cpu.at(200).sleep(1).at(310).dispatch(1).at(400).stop();
    auto &other = trace.cpu(1).at(50).id(1, 11, 11, "a").id(3, 33, 33, "kworker/1:0");
    other.snapshot(3, 2, 1)
        .at(100)
        .start()
        .at(from)
        .activate(3, 0, FTRACE_WAKER_HARDIRQ)
        .dispatch(3);
    if (to < 300)
      other.at(to).sleep(3);
    other.at(300).activate(1, 33);
    if (to > 300)
      other.at(to).sleep(3);
    other.at(400).stop();
  }

  test::TempDir dir;
  TraceBuilder trace;
};

TEST_F(WalkTest, AWorkerIsResponsibleForItsRunDuringTheBlock) {
  worker(150, 350);
  EXPECT_EQ(path(11), (Texts{"11 running 100-200", "33 running 200-300",
                             "11 waiting 300-310 peer=0", "11 running 310-400"}));
  worker(250, 350);
  EXPECT_EQ(path(11),
            (Texts{"11 running 100-200", "11 unowned 200-250 peer=33", "33 running 250-300",
                   "11 waiting 300-310 peer=0", "11 running 310-400"}));
}

TEST_F(WalkTest, AWorkerThatLeftItsCpuBeforeTheWakeupIsOnlyNamed) {
  worker(150, 280);
  EXPECT_EQ(path(11), (Texts{"11 running 100-200", "11 unowned 200-300 peer=33",
                             "11 waiting 300-310 peer=0", "11 running 310-400"}));
}

TEST_F(WalkTest, TheTimeBeforeAThreadIsKnownIsUnknown) {
  auto &cpu = trace.cpu(0).at(100).start().id(1, 11, 11, "a").at(150).dispatch(1).at(200);
  cpu.stop();
  EXPECT_EQ(path(11), (Texts{"11 unknown 100-150", "11 running 150-200"}));
}

TEST_F(WalkTest, ANewThreadContinuesWithItsMakerOnlyIfThatOneIsTraced) {
  for (const uint32_t maker : {22, 99}) {
    trace = TraceBuilder(dir.path());
    trace.json(test::kHolders);
    auto &cpu = trace.cpu(0).at(50).id(1, 22, 22, "m").id(2, 12, 12, "new", 200);
    cpu.snapshot(1, 1, 0).at(100).start().at(200).create(2, 12).activate_new(2, maker);
    cpu.at(200).epilogue(1, 12).dispatch(2).at(300).stop();
    EXPECT_EQ(path(12), (maker == 22 ? Texts{"22 running 100-200", "12 running 200-300"}
                                     : Texts{"12 unknown 100-200", "12 running 200-300"}));
  }
}

/// a and c yield to each other from 150 to 290. b, which could end that, wakes up at 200.
TEST_F(WalkTest, TheOnlyThreadThatDoesNotSpinIsResponsibleSinceItWokeUp) {
  auto &cpu = trace.cpu(0).at(50).id(1, 11, 11, "a").id(3, 33, 11, "c");
  cpu.snapshot(1, 1, 0).snapshot(3, 5, 0).at(100).start();
  for (uint64_t at = 150; at < 290; at += 20) {
    cpu.at(at).epilogue(1, 33, FTRACE_OFFCPU_YIELDED).dispatch(3);
    cpu.at(at + 10).epilogue(3, 11, FTRACE_OFFCPU_YIELDED).dispatch(1);
  }
  cpu.at(400).stop();
  auto &other = trace.cpu(1).at(50).id(2, 22, 11, "b").snapshot(2, 2, 1).at(100).start();
  other.at(200).activate(2, 0, FTRACE_WAKER_HARDIRQ).at(210).dispatch(2).at(400).stop();
  EXPECT_EQ(path(11), (Texts{"11 running 100-150", "33 running 150-160", "11 spins 160-200",
                             "22 waiting 200-210", "22 running 210-280", "11 running 280-400"}));
}

} // namespace
} // namespace ovnitrace
