// SPDX-License-Identifier: BSD-2-Clause
// The sentences of the channels seed about tracking; each test is named after one.
#include "emulator/core/system.h"
#include "tests/unit/support/collecting_rows.h"

#include <gtest/gtest.h>

namespace ovnitrace {
namespace {

using enum ThreadState;
using test::CollectingRows;
using test::Timeline;

Catalog two_cpus_three_threads() {
  Catalog catalog;
  catalog.hosts = {{"node"}};
  catalog.cpus = {{0, 0}, {1, 0}};
  catalog.threads.resize(3);
  for (uint32_t t = 0; t < 3; t++)
    catalog.threads[t].tid = 10 + t;
  return catalog;
}

/// Types: 1, 2 and 3 are tracked in threads by none, running and active. Adding 0, 10 or 20: not
/// copied to CPUs, copied from the running thread, or from the active one.
class Tracking : public ::testing::Test {
protected:
  Tracking() : catalog(two_cpus_three_threads()), system(catalog, {}) {
    for (Track cpu : {Track::none, Track::running, Track::active})
      for (Track thread : {Track::none, Track::running, Track::active}) {
        uint32_t type = uint32_t(thread) + 1 + 10 * uint32_t(cpu);
        ids[type] = system.channels().declare({.name = "c",
                                               .label = "C",
                                               .thread_type = type,
                                               .cpu_type = type,
                                               .thread_track = thread,
                                               .cpu_track = cpu});
        for (uint32_t t = 0; t < 3; t++)
          system.channels().set(ids[type], t, 100 + t);
      }
    emit(0);
  }
  void put(uint32_t thread, ThreadState state, uint32_t cpu) { system.change(thread, state, cpu); }
  void emit(uint64_t time) { system.channels().emit(time, threads, cpus); }
  int64_t last(const CollectingRows &rows, uint32_t row, uint32_t type) {
    Timeline all = rows.timeline(row, type);
    return all.empty() ? 0 : all.back().second;
  }

  Catalog catalog;
  System system;
  std::map<uint32_t, ChannelId> ids;
  CollectingRows threads, cpus;
};

TEST_F(Tracking, TrackNoneNothingToTrack) {
  uint64_t time = 1;
  for (ThreadState s : {Running, Paused, Warming, Cooling, Dead, Unknown}) {
    put(0, s, 0);
    emit(time++);
  }
  EXPECT_EQ(threads.timeline(0, 1), (Timeline{{0, 100}}));
}

TEST_F(Tracking, TrackRunningEnablesTheChannelOnlyIfTheThreadIsRunning) {
  std::map<ThreadState, int64_t> shown;
  uint64_t time = 1;
  for (ThreadState s : {Running, Paused, Warming, Cooling, Dead, Unknown}) {
    put(0, s, 0);
    emit(time++);
    shown[s] = last(threads, 0, 2);
  }
  EXPECT_EQ(shown,
            (std::map<ThreadState, int64_t>{
                {Running, 100}, {Paused, 0}, {Warming, 0}, {Cooling, 0}, {Dead, 0}, {Unknown, 0}}));
}

TEST_F(Tracking, TrackActiveEnablesTheChannelOnlyIfRunningCoolingOrWarming) {
  std::map<ThreadState, int64_t> shown;
  uint64_t time = 1;
  for (ThreadState s : {Running, Paused, Warming, Cooling, Dead, Unknown}) {
    put(0, s, 0);
    emit(time++);
    shown[s] = last(threads, 0, 3);
  }
  EXPECT_EQ(
      shown,
      (std::map<ThreadState, int64_t>{
          {Running, 100}, {Paused, 0}, {Warming, 100}, {Cooling, 100}, {Dead, 0}, {Unknown, 0}}));
}

TEST_F(Tracking, ACpuWithNoThreadsRunningEmitsAZeroState) {
  put(0, Running, 0);
  emit(1);
  put(0, Paused, 0);
  emit(2);
  EXPECT_EQ(cpus.timeline(0, 12), (Timeline{{1, 100}, {2, 0}}));
}

TEST_F(Tracking, ACpuWithOneThreadEmitsTheSameValueAsTheRunningThread) {
  put(1, Running, 1);
  emit(1);
  system.channels().set(ids[12], 1, 7);
  emit(2);
  EXPECT_EQ(cpus.timeline(1, 12), (Timeline{{1, 101}, {2, 7}}));
  EXPECT_TRUE(cpus.timeline(0, 12).empty()) << "the other CPU has no thread";
}

TEST_F(Tracking, MoreThanOneThreadRunningAlwaysOutputsTooManyTh) {
  put(0, Running, 0);
  put(1, Running, 0);
  emit(1);
  EXPECT_EQ(last(cpus, 0, 12), kStateTooManyThreads);
  EXPECT_EQ(kStateTooManyThreads, 777);
  system.channels().set(ids[12], 1, 7);
  emit(2);
  EXPECT_EQ(cpus.timeline(0, 12), (Timeline{{1, 777}}));
  put(0, Paused, 0);
  emit(3);
  EXPECT_EQ(last(cpus, 0, 12), 7) << "of the three only the one that is left";
}

TEST_F(Tracking, ThreeThreadsOfACpuLeaveTheRightOne) {
  for (uint32_t t = 0; t < 3; t++)
    put(t, Running, 0);
  put(2, Paused, 0);
  put(0, Paused, 0);
  emit(1);
  EXPECT_EQ(last(cpus, 0, 12), 101);
}

TEST_F(Tracking, ADisabledThreadChannelEmitsStBad) {
  // The active thread is followed, but its channel is enabled only while it is running.
  put(0, Warming, 0);
  emit(1);
  EXPECT_EQ(last(cpus, 0, 22), kStateBad);
  EXPECT_EQ(kStateBad, 666);
  put(0, Running, 0);
  emit(2);
  EXPECT_EQ(last(cpus, 0, 22), 100);
}

TEST_F(Tracking, ActiveTrackingFollowsTheActiveThreads) {
  put(0, Warming, 0);
  emit(1);
  EXPECT_EQ(last(cpus, 0, 23), 100);
  EXPECT_EQ(last(cpus, 0, 13), 0) << "none is running";
  put(1, Running, 0);
  emit(2);
  EXPECT_EQ(last(cpus, 0, 23), kStateTooManyThreads);
  EXPECT_EQ(last(cpus, 0, 13), 101);
  put(0, Paused, 0);
  emit(3);
  EXPECT_EQ(last(cpus, 0, 23), 101);
}

TEST_F(Tracking, AMigratedThreadIsSeenOnItsNewCpuOnly) {
  put(0, Running, 0);
  emit(1);
  put(0, Running, 1);
  emit(2);
  EXPECT_EQ(cpus.timeline(0, 12), (Timeline{{1, 100}, {2, 0}}));
  EXPECT_EQ(cpus.timeline(1, 12), (Timeline{{2, 100}}));
}

TEST_F(Tracking, ASwitchInOneInstantHasNoGap) {
  put(0, Running, 0);
  emit(1);
  put(0, Cooling, 0);
  put(1, Running, 0);
  emit(2);
  EXPECT_EQ(cpus.timeline(0, 12), (Timeline{{1, 100}, {2, 101}}));
}

TEST_F(Tracking, AChannelFirstUsedLaterShowsWhatHoldsThen) {
  put(0, Running, 0);
  put(1, Running, 1);
  put(2, Running, 1);
  emit(1);
  ChannelId late = system.channels().declare({.name = "late",
                                              .label = "Late",
                                              .thread_type = 50,
                                              .cpu_type = 50,
                                              .thread_track = Track::running,
                                              .cpu_track = Track::running});
  system.channels().set(late, 0, 5);
  emit(2);
  EXPECT_EQ(threads.timeline(0, 50), (Timeline{{2, 5}}));
  EXPECT_EQ(cpus.timeline(0, 50), (Timeline{{2, 5}}));
  EXPECT_EQ(cpus.timeline(1, 50), (Timeline{{2, 777}}));
}

TEST_F(Tracking, APunctualEventIsSeenOnTheCpuOfItsThread) {
  put(0, Running, 0);
  emit(1);
  system.channels().punctual(ids[12], 0, 42);
  emit(100);
  EXPECT_EQ(threads.timeline(0, 12), (Timeline{{1, 100}, {99, 42}, {100, 100}}));
  EXPECT_EQ(cpus.timeline(0, 12), (Timeline{{1, 100}, {99, 42}, {100, 100}}));
}

TEST_F(Tracking, APunctualEventOfAThreadThatIsNotTheOnlyOneIsNotSeenOnTheCpu) {
  put(0, Running, 0);
  put(1, Running, 0);
  emit(1);
  system.channels().punctual(ids[12], 0, 42);
  emit(100);
  EXPECT_EQ(cpus.timeline(0, 12), (Timeline{{1, 777}}));
}

TEST(TrackingLeftOut, AThreadThatIsLeftOutIsSeenOnNoCpu) {
  Catalog catalog = two_cpus_three_threads();
  SystemOptions options;
  options.left_out = {1, 0, 0};
  System system(catalog, options);
  ChannelId id = system.channels().declare(
      {.name = "c", .label = "C", .cpu_type = 1, .cpu_track = Track::running});
  system.channels().set(id, 0, 5);
  system.channels().set(id, 1, 6);
  system.change(0, Running, 0);
  system.change(1, Running, 0);
  CollectingRows threads, cpus;
  system.channels().emit(1, threads, cpus);
  EXPECT_EQ(cpus.timeline(0, 1), (Timeline{{1, 6}}));
}

} // namespace
} // namespace ovnitrace
