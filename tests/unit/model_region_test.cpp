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

TEST(RegionModel, MarksOfAnEventAreAddedUp) {
  ReplayRig rig;
  uint64_t time = 0;
  const auto shown = [&](uint32_t par2) {
    rig.at(time += 10).ftrace(FTrace_EXT_region, 0, 0, par2).flush();
    const Timeline timeline = rig.threads.timeline(0, 481);
    return label_of(rig, timeline[timeline.size() - 2].second);
  };
  constexpr uint32_t kThreadId = CONTROL_THREADID << FTRACE_REGION_EVENT_SHIFT | 1;
  EXPECT_EQ(shown(kStart), "Start");
  EXPECT_EQ(shown(kStart | FTRACE_REGION_AGAIN | FTRACE_REGION_BCAST),
            "Start of an open region, bcast");
  EXPECT_EQ(shown(kStart | FTRACE_REGION_AGAIN | FTRACE_REGION_BCAST | FTRACE_REGION_OTHER),
            "Start of an open region, bcast, fired in another thread");
  EXPECT_EQ(shown(kStop | FTRACE_REGION_OTHER), "Stop, fired in another thread");
  EXPECT_EQ(shown(kThreadId | FTRACE_REGION_BCAST), "Thread id, bcast");
  EXPECT_EQ(label_of(rig, 4), "") << "a precondition is not recorded";
  EXPECT_EQ(label_of(rig, 9), "") << "only a start can be of an open region";
}

TEST(RegionModel, ARegionOfAThreadIsOnNoOtherThread) {
  ReplayRig rig(3);
  for (const uint32_t thread : {1, 2})
    rig.at(10 * thread)
        .ftrace(FTrace_EXT_region, thread, 0, (kStart + thread) | FTRACE_REGION_THREAD);
  rig.at(30).ftrace(FTrace_EXT_snapshot, 0, 0, 2);
  rig.at(40).ftrace(FTrace_EXT_region, 1, 0, kStop | FTRACE_REGION_THREAD).at(50).dispatch(2);
  rig.flush();
  EXPECT_EQ(rig.threads.timeline(0, 480), (Timeline{}));
  EXPECT_EQ(rig.threads.timeline(1, 480), (Timeline{{10, 2}, {40, 0}}));
  EXPECT_EQ(rig.threads.timeline(2, 480), (Timeline{{20, 3}}));
}

TEST(RegionModel, AThreadThatIsDispatchedIsInTheRegionOfItsProcess) {
  ReplayRig rig;
  rig.at(10).ftrace(FTrace_EXT_region, 0, 0, kStart).at(20).dispatch(1, 1);
  rig.at(30).sleep(1, 1).flush();
  EXPECT_EQ(rig.threads.timeline(1, 480), (Timeline{{20, 1}}));
  EXPECT_EQ(rig.cpus.timeline(1, 480), (Timeline{{20, 1}, {30, 0}})) << "while it runs";
}

TEST(RegionModel, AnEventIsOnTheCpuOnWhichItsThreadRuns) {
  ReplayRig rig;
  rig.at(1).dispatch(1, 1).at(10).ftrace(FTrace_EXT_region, 1, 1, kStart + 15).flush();
  ASSERT_EQ(rig.cpus.timeline(1, 481).size(), 2u);
  EXPECT_EQ(label_of(rig, rig.cpus.timeline(1, 481)[0].second), "Start");
  EXPECT_EQ(rig.cpus.timeline(0, 481), Timeline());
  EXPECT_EQ(rig.cpus.timeline(1, 480), (Timeline{{10, 16}})) << "the last chain";
  rig.at(20).sleep(1, 1).at(30).ftrace(FTrace_EXT_region, 1, 1, kStop).flush();
  EXPECT_EQ(rig.cpus.timeline(1, 481).size(), 2u) << "then nobody runs there";
}

TEST(RegionModel, AThreadIdIsNoStartAndNoStop) {
  constexpr uint32_t kThreadId = CONTROL_THREADID << FTRACE_REGION_EVENT_SHIFT | 1;
  ReplayRig rig;
  rig.at(10)
      .ftrace(FTrace_EXT_region, 0, 0, kThreadId)
      .at(20)
      .ftrace(FTrace_EXT_region, 0, 0, kStart);
  rig.at(30).ftrace(FTrace_EXT_region, 0, 0, kThreadId).flush();
  EXPECT_EQ(rig.threads.timeline(0, 480), (Timeline{{20, 1}}));
}

TEST(RegionModel, AStopEndsTheRegionOfItsProcessOnItsHostOnly) {
  ReplayRig rig(4, 2, builtin_models(), false, 2); // threads 0 and 2 on the first host
  for (uint32_t thread : {0, 1})
    rig.at(10).ftrace(FTrace_EXT_region, thread, thread, kStart + 7);
  for (uint32_t thread : {2, 3})
    rig.at(20).ftrace(FTrace_EXT_snapshot, thread, thread % 2, 2);
  rig.at(30).ftrace(FTrace_EXT_region, 0, 0, kStop).flush();
  for (uint32_t thread : {0, 2})
    EXPECT_EQ(rig.threads.timeline(thread, 480), (Timeline{{10 + 5 * thread, 8}, {30, 0}}));
  for (uint32_t thread : {1, 3})
    EXPECT_EQ(rig.threads.timeline(thread, 480), (Timeline{{5 + 5 * thread, 8}}));
}

TEST(RegionModel, AreNamedByTheChainsOfTheFirstHostThatHasSome) {
  Catalog catalog;
  catalog.hosts = {
      {.name = "a"}, {.name = "b", .chains = {"x", "y"}}, {.name = "c", .chains = {"z"}}};
  catalog.cpus = {{0, 0}};
  catalog.threads.push_back({.tid = 1, .pid = 1, .name = "t"});
  test::CollectingSink sink;
  Replay replay(catalog, builtin_models(), {}, sink, 0);
  std::string labels;
  for (ChannelId id = 0; id < replay.system().channels().size(); id++)
    if (const ChannelDef &def = replay.system().channels().def(id); def.thread_type == 480)
      for (const ValueLabel &label : def.values)
        labels += std::to_string(label.value) + "=" + label.label + " ";
  EXPECT_EQ(labels, "1=x 2=y 17=Started by no chain ");
  test::CollectingRows threads, cpus;
  replay.handle({.time = 5, .kind = FTrace_EXT_region, .thread = 0, .cpu = 0, .par2 = kStart - 1});
  replay.emit(5, threads, cpus);
  EXPECT_EQ(threads.timeline(0, 480), (Timeline{{5, 17}}));
}

} // namespace
} // namespace ovnitrace
