// SPDX-License-Identifier: BSD-2-Clause
// The ovni model: what the events of ovni streams do.
#include "tests/unit/support/replay_rig.h"

#include <gtest/gtest.h>

namespace ovnitrace {
namespace {

using enum ThreadState;
using test::ReplayRig;
using test::Timeline;

/// Which of them are refused is in ovni_verdicts_test.cpp.
TEST(OvniStream, EveryEventLeadsToTheStateThatItSaysFromAnyState) {
  const struct {
    const char *event;
    std::vector<int32_t> payload;
    ThreadState after;
  } rows[] = {
      {"OHx", {0, -1, 0, 0}, Running},
      {"OHp", {}, Paused},
      {"OHr", {}, Running},
      {"OHc", {}, Cooling},
      {"OHw", {}, Warming},
      {"OHe", {}, Dead},
  };
  for (const auto &row : rows)
    for (ThreadState from : {Unknown, Running, Paused, Dead, Cooling, Warming}) {
      ReplayRig rig(2, 2, builtin_models(), true);
      if (from != Unknown) // a snapshot with that state says that the thread left the filters
        rig.at(1).ftrace(FTrace_EXT_snapshot, 0, 0, uint32_t(from));
      rig.at(2).ovni(row.event, 0, row.payload);
      EXPECT_EQ(rig.state(0), row.after) << row.event << " in " << name(from);
    }
}

TEST(OvniStream, SeveralThreadsMayRunOnACpuAndItShowsTheErrorState) {
  ReplayRig rig(2, 1, builtin_models(), true);
  rig.at(1).ovni("OHx", 0, {0, 0, 0, 0}).at(2).ovni("OHx", 1, {0, 0, 0, 0});
  rig.at(3).ovni("OHp", 0).flush();
  EXPECT_EQ(rig.faults(), 1u) << "ovni refuses it on a physical CPU";
  EXPECT_EQ(rig.cpus.timeline(0, 2), (Timeline{{1, 100}, {2, 777}, {3, 101}}));
  EXPECT_EQ(rig.cpus.timeline(0, 3), (Timeline{{1, 1}, {2, 2}, {3, 1}}));
}

TEST(OvniStream, ThreadsWithoutACpuAreOnTheVirtualOne) {
  ReplayRig rig(2, 1, builtin_models(), true);
  rig.at(1).ovni("OHx", 0, {-1, 0, 0, 0}).flush();
  EXPECT_EQ(rig.cpu(0), 1u) << "behind the real one";
  EXPECT_EQ(rig.cpus.timeline(1, 2), (Timeline{{1, 100}}));
  EXPECT_TRUE(rig.threads.timeline(0, 6).empty());
}

TEST(OvniStream, AffinitySetMovesAnActiveThread) {
  ReplayRig rig(2, 2, builtin_models(), true);
  rig.at(1).ovni("OHx", 0, {0, 0, 0, 0}).at(2).ovni("OAs", 0, {1}).flush();
  EXPECT_EQ(rig.cpu(0), 1u);
  EXPECT_EQ(rig.threads.timeline(0, 6), (Timeline{{1, 1}, {2, 2}}));
  EXPECT_EQ(rig.cpus.timeline(0, 2), (Timeline{{1, 100}, {2, 0}}));
  rig.at(3).ovni("OHp", 0);
  EXPECT_EQ(rig.faults(), 0u);
  rig.at(4).ovni("OAs", 0, {0});
  EXPECT_EQ(rig.faults(), 1u) << "a paused thread cannot move itself";
  EXPECT_EQ(rig.cpu(0), 1u);
}

TEST(OvniStream, AffinityRemoteMovesAnyThreadNotUnknownOrDead) {
  ReplayRig rig(2, 2, builtin_models(), true);
  rig.at(1).ovni("OHx", 0, {0, 0, 0, 0}).at(2).ovni("OAr", 0, {1, 101}, 1);
  EXPECT_EQ(rig.faults(), 1u) << "Unknown";
  rig.at(3).ovni("OHx", 1, {-1, 0, 0, 0}).at(4).ovni("OHp", 1).at(5).ovni("OAr", 0, {1, 101}, 1);
  EXPECT_EQ(rig.cpu(1), 1u);
  EXPECT_EQ(rig.faults(), 1u);
  rig.at(6).ovni("OHr", 1).at(7).ovni("OHe", 1).at(8).ovni("OAr", 0, {0, 101}, 1);
  EXPECT_EQ(rig.faults(), 2u) << "Dead";
  rig.at(9).ovni("OAr", 0, {0, 999});
  EXPECT_EQ(rig.faults(), 3u) << "no such thread";
}

TEST(OvniStream, PayloadsThatAreShortOrNameNoCpuAreReported) {
  ReplayRig rig(2, 2, builtin_models(), true);
  rig.at(1).ovni("OHx", 0, {});
  EXPECT_EQ(rig.faults(), 1u);
  EXPECT_EQ(rig.state(0), Running) << "it runs, though not known where";
  rig.at(2).ovni("OAs", 0, {});
  rig.at(3).ovni("OAs", 0, {99});
  rig.at(4).ovni("OAr", 0, {1});
  EXPECT_EQ(rig.faults(), 4u);
}

TEST(OvniStream, FlushingIsType7OfThreadAndCpu) {
  ReplayRig rig(1, 1, builtin_models(), true);
  rig.at(1).ovni("OHx", 0, {0, 0, 0, 0}).at(2).ovni("OF[", 0).at(3).ovni("OF]", 0).flush();
  EXPECT_EQ(rig.threads.timeline(0, 7), (Timeline{{2, 1}, {3, 0}}));
  EXPECT_EQ(rig.cpus.timeline(0, 7), (Timeline{{2, 1}, {3, 0}}));
}

TEST(OvniStream, KernelContextSwitchesAreType45) {
  ReplayRig rig(1, 1, builtin_models(), true);
  rig.at(1).ovni("OHx", 0, {0, 0, 0, 0}).at(2).ovni("KCO", 0).at(3).ovni("KCI", 0).flush();
  EXPECT_EQ(rig.threads.timeline(0, 45), (Timeline{{2, 3}, {3, 0}}));
  rig.at(4).ovni("KCI", 0);
  EXPECT_EQ(rig.faults(), 1u) << "never went out";
}

TEST(OvniStream, MarksArePushedPoppedAndSet) {
  ReplayRig rig(1, 1, builtin_models(), true);
  rig.at(1).ovni("OHx", 0, {0, 0, 0, 0});
  rig.at(2).ovni("OM[", 0, {5, 0, 3}).at(3).ovni("OM[", 0, {6, 0, 3});
  rig.at(4).ovni("OM]", 0, {6, 0, 3}).at(5).ovni("OM=", 0, {9, 0, 4}).flush();
  EXPECT_EQ(rig.threads.timeline(0, 103), (Timeline{{2, 5}, {3, 6}, {4, 5}}));
  EXPECT_EQ(rig.cpus.timeline(0, 104), (Timeline{{5, 9}}));
  rig.at(6).ovni("OM]", 0, {7, 0, 3});
  EXPECT_EQ(rig.last_fault(), "cannot pop from channel 'mark 3' of t0 (100): expected 7, found 5");
  for (const std::vector<int32_t> &payload :
       {std::vector<int32_t>{5, 0}, {5, 0, 100}, {5, 0, -1}, {0, 0, 3}}) {
    const uint64_t before = rig.faults();
    rig.at(7).ovni("OM[", 0, payload);
    EXPECT_EQ(rig.faults(), before + 1);
    EXPECT_EQ(rig.last_fault(),
              "mark of t0 (100) without a value that is not 0 and a type from 0 to 99");
  }
}

} // namespace
} // namespace ovnitrace
