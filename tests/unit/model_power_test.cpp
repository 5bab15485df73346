// SPDX-License-Identifier: BSD-2-Clause
// The model of idle states and frequencies.
#include "tests/unit/support/replay_rig.h"

#include <gtest/gtest.h>

namespace ovnitrace {
namespace {

using test::ReplayRig;
using test::Timeline;

TEST(PowerModel, ACpuIsInAnIdleStateUntilItLeavesIt) {
  ReplayRig rig;
  rig.at(10).ftrace(FTrace_EXT_idle_start, kNone, 1, 0);
  rig.at(20).ftrace(FTrace_EXT_idle_end, kNone, 1, 0);
  rig.at(30).ftrace(FTrace_EXT_idle_start, kNone, 1, 3);
  rig.at(40).ftrace(FTrace_EVT_blackout_start, kNone, 1, 0).flush();
  EXPECT_EQ(rig.cpus.timeline(1, 500), (Timeline{{10, 1}, {20, 0}, {30, 4}, {40, 0}}));
  EXPECT_EQ(rig.cpus.timeline(0, 500), (Timeline{}));
}

TEST(PowerModel, OneCpuMaySetTheFrequencyOfAnother) {
  ReplayRig rig;
  rig.at(10).ftrace(FTrace_EXT_frequency, kNone, 0, 2'400'000, kNone, 1);
  rig.at(20).ftrace(FTrace_EXT_frequency, kNone, 0, 800'000, kNone, 777); // no such CPU
  rig.flush();
  EXPECT_EQ(rig.cpus.timeline(1, 501), (Timeline{{10, 2'400'000}}));
  EXPECT_EQ(rig.cpus.timeline(0, 501), (Timeline{}));
}

TEST(PowerModel, ALossOnAnyCpuHidesTheFrequenciesThatItMaySet) {
  ReplayRig rig;
  rig.at(10).ftrace(FTrace_EXT_frequency, kNone, 0, 2'400'000, kNone, 1);
  rig.at(20).ftrace(FTrace_EVT_blackout_start, kNone, 0);
  rig.at(30).ftrace(FTrace_EXT_frequency, kNone, 1, 800'000, kNone, 1);
  rig.at(40).ftrace(FTrace_EVT_blackout_end, kNone, 0, 3).flush();
  EXPECT_EQ(rig.cpus.timeline(1, 501),
            (Timeline{{10, 2'400'000}, {20, 0}, {30, 800'000}, {40, 0}}));
}

TEST(PowerModel, StolenTimeBelongsToTheTimeBeforeTheReading) {
  ReplayRig rig;
  rig.at(10).ftrace(FTrace_EXT_steal, kNone, 1, 0).at(20).ftrace(FTrace_EXT_steal, kNone, 1, 250);
  rig.at(30).ftrace(FTrace_EXT_steal, kNone, 1, 0).at(40).ftrace(FTrace_EXT_steal, kNone, 1, 9);
  rig.at(50).ftrace(FTrace_EVT_blackout_start, kNone, 1).flush();
  EXPECT_EQ(rig.cpus.timeline(1, 502), (Timeline{{20, 250}, {30, 0}, {40, 9}, {50, 0}}));
}

} // namespace
} // namespace ovnitrace
