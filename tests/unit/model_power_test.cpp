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

/// Returns "value=label " of all values of type 500.
std::string idle_states(std::vector<HostInfo> hosts) {
  Catalog catalog;
  catalog.hosts = std::move(hosts);
  test::CollectingSink sink;
  Replay replay(catalog, builtin_models(), {}, sink, 0);
  std::string labels;
  for (ChannelId id = 0; id < replay.system().channels().size(); id++)
    if (const ChannelDef &def = replay.system().channels().def(id); def.cpu_type == 500)
      for (const ValueLabel &label : def.values)
        labels += std::to_string(label.value) + "=" + label.label + " ";
  return labels;
}

TEST(PowerModel, IdleStatesHaveTheNamesOfTheFirstHostThatHasSome) {
  EXPECT_EQ(idle_states({{.name = "a"},
                         {.name = "b", .idle_states = {"POLL", "", "C6"}},
                         {.name = "c", .idle_states = {"X"}}}),
            "1=POLL 2=Idle state 1 3=C6 4=Idle state 3 5=Idle state 4 6=Idle state 5 "
            "7=Idle state 6 8=Idle state 7 9=Idle state 8 10=Idle state 9 ");
}

TEST(PowerModel, TheFrequencyIsThatOfTheCpuOfTheSameHost) {
  ReplayRig rig(2, 4, builtin_models(), false, 2); // CPUs 0 and 2 of the first host
  rig.at(10).ftrace(FTrace_EXT_frequency, kNone, 1, 800'000, kNone, 3).flush();
  rig.at(20).ftrace(FTrace_EXT_frequency, kNone, 0, 900'000, kNone, 3).flush();
  EXPECT_EQ(rig.cpus.timeline(3, 501), (Timeline{{10, 800'000}})) << "the first has no CPU 3";
}

} // namespace
} // namespace ovnitrace
