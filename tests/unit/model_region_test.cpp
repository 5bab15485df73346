// SPDX-License-Identifier: BSD-2-Clause
// What the model region makes of the alarms of --control: types 480 and 481.
#include "tests/unit/support/replay_rig.h"

#include <gtest/gtest.h>
#include <ovnitrace/control.h>

namespace ovnitrace {
namespace {

using test::ReplayRig;
using test::Timeline;

constexpr uint32_t kStart = CONTROL_START << FTRACE_REGION_EVENT_SHIFT | 1;
constexpr uint32_t kStop = CONTROL_STOP << FTRACE_REGION_EVENT_SHIFT | 1;

/// The label of a value of type 481.
std::string label_of(ReplayRig &rig, int64_t value) {
  for (ChannelId id = 0; id < rig.replay.system().channels().size(); id++)
    for (const ValueLabel &label : rig.replay.system().channels().def(id).values)
      if (rig.replay.system().channels().def(id).thread_type == 481 && label.value == value)
        return label.label;
  return "";
}

TEST(RegionModel, AStartOfAnOpenRegionChangesNothing) {
  ReplayRig rig;
  rig.at(10).ftrace(FTrace_EXT_region, 0, 0, kStart);
  rig.at(20).ftrace(FTrace_EXT_region, 1, 0, (kStart + 1) | FTRACE_REGION_AGAIN);
  rig.at(30).ftrace(FTrace_EXT_region, 0, 0, kStop).flush();
  EXPECT_EQ(rig.threads.timeline(0, 480), (Timeline{{10, 1}, {30, 0}}));
  EXPECT_EQ(rig.threads.timeline(1, 480), (Timeline{}));
}

/// Thread 0 has the pid of the process as its tid, thread 1 has not.
TEST(RegionModel, ALaterProcessWithTheSamePidIsInNoRegion) {
  ReplayRig rig;
  rig.at(10).ftrace(FTrace_EXT_region, 0, 0, kStart).at(15).ftrace(FTrace_EVT_task_create, 1);
  rig.at(20).end(0).end(1).at(30).ftrace(FTrace_EVT_task_create, 0);
  rig.at(40).dispatch(0).dispatch(1, 1).flush();
  EXPECT_EQ(rig.threads.timeline(0, 480), (Timeline{{10, 1}, {20, 0}}));
  EXPECT_EQ(rig.threads.timeline(1, 480), (Timeline{{15, 1}, {20, 0}}));
}

TEST(RegionModel, ALaterThreadWithTheSameTidIsInNoRegionOfTheOlderOne) {
  ReplayRig rig;
  rig.at(10).ftrace(FTrace_EXT_region, 1, 0, kStart | FTRACE_REGION_THREAD);
  rig.at(20).end(1).at(30).ftrace(FTrace_EVT_task_create, 1).at(40).dispatch(1).flush();
  EXPECT_EQ(rig.threads.timeline(1, 480), (Timeline{{10, 1}, {20, 0}}));
}

TEST(RegionModel, EachEventIsShownOnTheThreadThatFiredWithItsMarks) {
  ReplayRig rig;
  rig.at(10).ftrace(FTrace_EXT_region, 0, 0, kStart | FTRACE_REGION_BCAST);
  rig.at(20).ftrace(FTrace_EXT_region, 1, 0, kStart | FTRACE_REGION_AGAIN);
  rig.at(30).ftrace(FTrace_EXT_region, 0, 0, kStop).flush();
  const Timeline first = rig.threads.timeline(0, 481), second = rig.threads.timeline(1, 481);
  ASSERT_EQ(first.size(), 4u);
  EXPECT_EQ(label_of(rig, first[0].second), "Start, bcast");
  EXPECT_EQ(label_of(rig, first[2].second), "Stop");
  ASSERT_EQ(second.size(), 2u);
  EXPECT_EQ(label_of(rig, second[0].second), "Start of an open region");
}

} // namespace
} // namespace ovnitrace
