// SPDX-License-Identifier: BSD-2-Clause
// What waits on a CPU for its transitions: user/record/cpu_stream.
#include "tests/unit/support/chunks.h"
#include "user/chunk/linked_chunks.h"
#include "user/record/cpu_stream.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace ovnitrace {
namespace {

class CpuStreamTest : public testing::Test {
protected:
  void add_renames(uint64_t count) {
    for (; count; count--) {
      life_record life = {};
      life.time = ++time_;
      life.kind = LIFE_RENAME;
      life.tid = life.pid = 7;
      stream_.add_life(life);
    }
  }
  test::CollectingOutput output_;
  LinkedChunks queue_{output_, LinkedChunks::kWait, 1, 3, 1 << 16};
  ThreadRegistry registry_;
  std::atomic<uint64_t> end_{UINT64_MAX};
  CpuStream stream_{ChunkWriter(0, 0, registry_, queue_), end_};
  uint64_t time_ = 0;
  cpu_stage stage_ = {};
};

// A CPU that does not switch.
TEST_F(CpuStreamTest, LifeEventsDoNotWaitForATransitionThatDoesNotCome) {
  add_renames(10);
  stream_.settle(stage_, 5);
  stream_.settle(stage_, 5);
  EXPECT_EQ(stream_.writer().last_time(), 5u);
  stream_.settle(stage_, 10);
  EXPECT_EQ(stream_.writer().last_time(), 10u);
  stream_.finish();
}

// The first look knows nothing of what was staged before it, and a loss hides what is staged.
TEST_F(CpuStreamTest, SaysUpToWhenAllWasWritten) {
  stream_.settle(stage_, 5);
  EXPECT_EQ(stream_.settled(), 0u);
  stream_.settle(stage_, 10);
  EXPECT_EQ(stream_.settled(), 10u);
  stage_.batch.lost = CAPTURE_BATCH;
  stream_.settle(stage_, 20);
  EXPECT_EQ(stream_.settled(), 10u);
}

// With --rotate, the next event of the CPU can be in a later part, which starts after trace_start.
TEST(CpuStream, ASilentCpuHasTheStartOfTheTraceInItsFirstChunk) {
  test::CollectingOutput output;
  LinkedChunks queue(output, LinkedChunks::kWait, 1, 3, 1 << 16);
  const ThreadRegistry registry;
  const std::atomic<uint64_t> end = 9000;
  CpuStream stream(ChunkWriter(0, 100, registry, queue), end);
  life_record snapshot = {};
  snapshot.time = 50;
  snapshot.kind = LIFE_SNAPSHOT;
  snapshot.tid = snapshot.pid = 7;
  stream.add_life(snapshot);
  const cpu_stage stage = {};
  for (const uint64_t looked : {60, 90, 100})
    stream.settle(stage, looked);
  stream.pass_on(UINT64_MAX);
  stream.finish();
  queue.close();
  std::vector<std::string> lines;
  for (const ftrace_record &record : output.files[0])
    if (record.code == FTrace_EXT_chunk)
      lines.push_back(fmt::format("chunk {}", record.par2));
    else if (record.code == FTrace_EVT_trace_start)
      lines.push_back(fmt::format("start {}", ftrace_record_tsc(&record)));
  EXPECT_EQ(lines, (std::vector<std::string>{"chunk 0", "start 100", "chunk 1"}));
}

// It may not even be there: it has no file.
TEST(CpuStream, ACpuWithoutAnyRecordHasNoChunk) {
  test::CollectingOutput output;
  LinkedChunks queue(output, LinkedChunks::kWait, 1, 3, 1 << 16);
  const ThreadRegistry registry;
  const std::atomic<uint64_t> end = 9000;
  CpuStream stream(ChunkWriter(0, 100, registry, queue), end);
  const cpu_stage stage = {};
  for (const uint64_t looked : {60, 90, 100, 200})
    stream.settle(stage, looked);
  EXPECT_EQ(stream.writer().last_time(), 0u);
}

// A batch was lost and no other has come: what is staged cannot be read.
TEST_F(CpuStreamTest, TheNumberOfWaitingLifeEventsIsLimited) {
  stage_.batch.lost = CAPTURE_BATCH;
  add_renames(1 << 16);
  stream_.settle(stage_, time_);
  EXPECT_EQ(stream_.writer().last_time(), 0u) << "they wait";
  add_renames(1);
  stream_.settle(stage_, time_);
  EXPECT_EQ(stream_.writer().last_time(), time_) << "and no longer";
  stream_.finish();
}

/// What comes of a batch and of events of a family, up to an end.
class CpuStreamRecords : public testing::Test {
protected:
  static sched_record wakeup(uint64_t time) {
    return {SCHED_WHEN(time, 0), SCHED_WORD(SCHED_KIND_WAKEUP, 0, 0, 7, 8) | SCHED_A_TRACED};
  }
  /// "101 blackout_end 22": time and parameter 2 of all blackouts, wakeups and user events.
  std::vector<std::string> finish(uint64_t end) {
    stream_.take_stage(stage_);
    end_ = end;
    stream_.finish();
    queue_.close();
    std::vector<std::string> lines;
    for (const ftrace_record &record : output_.files[0]) {
      const uint64_t time = ftrace_record_tsc(&record);
      if (record.code == FTrace_EVT_blackout_start)
        lines.push_back(fmt::format("{} dark {}", time, record.par1));
      else if (record.code == FTrace_EVT_blackout_end)
        lines.push_back(fmt::format("{} light {}", time, record.par2));
      else if (record.code == FTrace_EVT_task_activate)
        lines.push_back(fmt::format("{} wakeup", time));
    }
    return lines;
  }
  /// Stages wakeups at 10, 20, …
  void stage(uint32_t count) {
    for (uint32_t n = 0; n < count; n++)
      stage_.batch.records[n] = wakeup(10 * (n + 1));
    stage_.count = count;
  }
  test::CollectingOutput output_;
  LinkedChunks queue_{output_, LinkedChunks::kWait, 1, 3, 1 << 16};
  ThreadRegistry registry_;
  std::atomic<uint64_t> end_{UINT64_MAX};
  CpuStream stream_{ChunkWriter(0, 0, registry_, queue_), end_};
  cpu_stage stage_ = {};
};
using Lines = std::vector<std::string>;

// A busy CPU fills a batch between any two looks. It is known up to the last record of a batch.
TEST_F(CpuStreamRecords, AFullBatchSaysUpToWhenAllWasWritten) {
  stream_.note_position(1000);
  stage(CAPTURE_BATCH - 1);
  stream_.take_stage(stage_);
  EXPECT_EQ(stream_.settled(), 0u);
  stage(CAPTURE_BATCH);
  stream_.take_stage(stage_);
  EXPECT_EQ(stream_.settled(), 10u * CAPTURE_BATCH);
  stage(CAPTURE_BATCH / 2);
  stream_.take_stage(stage_);
  EXPECT_EQ(stream_.settled(), 10u * CAPTURE_BATCH);
  stage_ = {};
  stage_.events = 3 * CAPTURE_BATCH;
  for (int n = 0; n < 2; n++)
    stream_.settle(stage_, 5);
  EXPECT_EQ(stream_.settled(), 10u * CAPTURE_BATCH) << "a look that began before";
}

TEST_F(CpuStreamRecords, ALossLastsUntilTheFirstTransitionAfterIt) {
  stream_.note_position(1000);
  stage(2);
  stage_.batch.lost = 64;
  stage_.batch.lost_since = SCHED_WHEN(3, 0);
  EXPECT_EQ(finish(1000), (Lines{"3 dark 0", "10 light 64", "10 wakeup", "20 wakeup"}));
  EXPECT_EQ(stream_.late().lost, 0u);
}

TEST_F(CpuStreamRecords, ALossWithoutAnyTransitionAfterItLastsUntilTheEnd) {
  stream_.note_position(1000);
  end_ = 900;
  stage_.batch.lost = 32;
  stage_.batch.lost_since = SCHED_WHEN(3, 0);
  EXPECT_EQ(finish(900), (Lines{"3 dark 0", "900 light 32"}));
}

// Two clocks: the first transition after a loss can have a time before the loss, or after the end.
TEST_F(CpuStreamRecords, ALossEndsNeitherBeforeItBeginsNorAfterTheEnd) {
  stream_.note_position(1000);
  stage(1);
  stage_.batch.lost = 32;
  stage_.batch.lost_since = SCHED_WHEN(40, 0);
  stream_.take_stage(stage_);
  end_ = 90;
  stage_.batch.records[0] = wakeup(95);
  stage_.batch.lost_since = SCHED_WHEN(60, 0);
  EXPECT_EQ(finish(90),
            (Lines{"40 dark 0", "40 light 32", "40 wakeup", "60 dark 0", "90 light 32"}));
}

// The blackout without a known place ends in the pause, and does not begin again after it.
TEST_F(CpuStreamRecords, ABlackoutThatEndsInAPauseDoesNotBeginAgain) {
  stream_.note_position(1000);
  stream_.add_blackout(5, 20, 7, FTRACE_BLACKOUT_SOMEWHERE);
  stream_.add_pause(10, true);
  stream_.add_pause(30, false);
  stage_.batch.records[0] = wakeup(60);
  stage_.count = 1;
  stage_.batch.lost = 32;
  stage_.batch.lost_since = SCHED_WHEN(40, 0);
  EXPECT_EQ(finish(1000), (Lines{"5 dark 1", "10 dark 5", "30 light 0", "40 dark 0", "60 light 32",
                                 "60 wakeup"}));
}

// Three records are read where they are staged; then their batch finds no room.
TEST_F(CpuStreamRecords, RecordsReadBeforeTheirBatchWasLostAreKept) {
  stream_.note_position(1000);
  stage(3);
  stream_.settle(stage_, 0);
  stream_.settle(stage_, 0);
  stage_.batch.lost = 32;
  stage_.batch.lost_since = SCHED_WHEN(40, 0);
  stage_.batch.records[0] = wakeup(500);
  stage_.count = 1;
  EXPECT_EQ(finish(1000), (Lines{"10 wakeup", "20 wakeup", "30 wakeup", "40 dark 0", "500 light 29",
                                 "500 wakeup"}));
  EXPECT_EQ(stream_.late().lost, 3u) << "which the kernel counted as lost";
  EXPECT_EQ(stream_.late().events, 0u);
}

TEST_F(CpuStreamRecords, EventsAfterTheEndAreLeftOutAndCounted) {
  stream_.note_position(1000);
  end_ = 20;
  stage(4);
  EXPECT_EQ(finish(20), (Lines{"10 wakeup", "20 wakeup"}));
  EXPECT_EQ(stream_.late().events, 2u);
}

TEST_F(CpuStreamRecords, APauseLeavesOutWhatWasLoggedInItAndLosesNothing) {
  stream_.note_position(1000);
  stage(4);
  stream_.add_pause(15, true);
  stream_.add_pause(35, false);
  stream_.add_mark(20, 1);
  EXPECT_EQ(finish(1000), (Lines{"10 wakeup", "15 dark 5", "35 light 0", "40 wakeup"}));
  EXPECT_EQ(stream_.late().events, 2u) << "at 20 and 30";
  EXPECT_EQ(stream_.late().lost, 0u);
}

// The pause hides what a loss in it would.
TEST_F(CpuStreamRecords, ALossThatStartsInAPauseIsABlackoutAfterIt) {
  stream_.note_position(1000);
  stream_.add_pause(5, true);
  stream_.add_pause(15, false);
  stage_.batch.records[0] = wakeup(20);
  stage_.count = 1;
  stage_.batch.lost = 32;
  stage_.batch.lost_since = SCHED_WHEN(10, 0);
  EXPECT_EQ(finish(1000),
            (Lines{"5 dark 5", "15 light 0", "15 dark 0", "20 light 32", "20 wakeup"}));
}

TEST_F(CpuStreamRecords, LossesAfterTheEndDoNotCount) {
  stream_.note_position(1000);
  end_ = 20;
  stage_.batch.lost = 32;
  stage_.batch.lost_since = SCHED_WHEN(21, 0);
  stream_.take_stage(stage_);
  stage_.batch.lost = 64;
  EXPECT_EQ(finish(20), Lines{});
  EXPECT_EQ(stream_.late().events, 96u);
  EXPECT_EQ(stream_.late().lost, 96u);
}

TEST_F(CpuStreamRecords, ALossAtTheEndIsInTheCapture) {
  stream_.note_position(1000);
  end_ = 20;
  stage_.batch.lost = 32;
  stage_.batch.lost_since = SCHED_WHEN(20, 0);
  EXPECT_EQ(finish(20), (Lines{"20 dark 0", "20 light 32"}));
  EXPECT_EQ(stream_.late().events, 0u);
  EXPECT_EQ(stream_.late().lost, 0u);
}

// The pause hides the end of the loss.
TEST_F(CpuStreamRecords, ALossIntoAPauseEndsWithThePause) {
  stream_.note_position(1000);
  stream_.add_pause(7, true);
  stream_.add_pause(15, false);
  stage(2);
  stage_.batch.lost = 32;
  stage_.batch.lost_since = SCHED_WHEN(3, 0);
  EXPECT_EQ(finish(1000), (Lines{"3 dark 0", "7 dark 5", "15 light 0", "20 wakeup"}));
  EXPECT_EQ(stream_.late().events, 1u) << "at 10";
  EXPECT_EQ(stream_.late().lost, 0u);
}

TEST_F(CpuStreamRecords, WhatWasReadWhereItIsStagedIsNotReadAgain) {
  stream_.note_position(1000);
  stage(3);
  stream_.settle(stage_, 0);
  stream_.settle(stage_, 0);
  stage(5);
  EXPECT_EQ(finish(1000), (Lines{"10 wakeup", "20 wakeup", "30 wakeup", "40 wakeup", "50 wakeup"}));
  EXPECT_EQ(stream_.late().events, 0u);
}

// A family's event was written without waiting for the transition before it.
TEST_F(CpuStreamRecords, ATransitionIsNotBeforeWhatIsWrittenAlready) {
  stream_.note_position(1000);
  stream_.add_blackout(50, 60, 1, FTRACE_BLACKOUT_FAMILIES);
  stream_.take_stage(stage_);
  stage(1);
  EXPECT_EQ(finish(1000), (Lines{"50 dark 2", "60 light 1", "60 wakeup"}));
}

TEST_F(CpuStreamRecords, ABatchIsWrittenInTheOrderOfTime) {
  stream_.note_position(1000);
  stage(3);
  std::swap(stage_.batch.records[0], stage_.batch.records[2]);
  EXPECT_EQ(finish(1000), (Lines{"10 wakeup", "20 wakeup", "30 wakeup"}));
}

TEST_F(CpuStreamRecords, BlackoutsWaitForTheTransitionsBeforeThem) {
  stream_.note_position(1000);
  stream_.add_blackout(15, 25, 7, FTRACE_BLACKOUT_FAMILIES);
  stream_.add_blackout(5, 8, 6, FTRACE_BLACKOUT_FAMILIES);
  stage(3);
  EXPECT_EQ(finish(1000), (Lines{"5 dark 2", "8 light 6", "10 wakeup", "15 dark 2", "20 wakeup",
                                 "25 light 7", "30 wakeup"}));
}

// A reader takes the first end for the end of both.
TEST_F(CpuStreamRecords, ABlackoutWithinAnotherDoesNotEndIt) {
  stream_.note_position(1000);
  stream_.add_blackout(20, 30, 7, FTRACE_BLACKOUT_SOMEWHERE);
  stage_.batch.records[0] = wakeup(40);
  stage_.count = 1;
  stage_.batch.lost = 32;
  stage_.batch.lost_since = SCHED_WHEN(10, 0);
  EXPECT_EQ(finish(1000), (Lines{"10 dark 0", "20 dark 1", "30 light 7", "30 dark 0", "40 light 32",
                                 "40 wakeup"}));
}

TEST_F(CpuStreamRecords, OfTwoBlackoutsThatOverlapTheLaterEndEndsBoth) {
  stream_.note_position(1000);
  stream_.add_blackout(20, 60, 7, FTRACE_BLACKOUT_SOMEWHERE);
  stage_.batch.records[0] = wakeup(40);
  stage_.batch.records[1] = wakeup(70);
  stage_.count = 2;
  stage_.batch.lost = 32;
  stage_.batch.lost_since = SCHED_WHEN(10, 0);
  EXPECT_EQ(finish(1000), (Lines{"10 dark 0", "20 dark 1", "40 light 32", "40 dark 1", "40 wakeup",
                                 "60 light 7", "70 wakeup"}));
}

// One of families hides no states: nothing begins again at its end.
TEST_F(CpuStreamRecords, ABlackoutOfFamiliesWithinAnotherChangesNothingOfIt) {
  stream_.note_position(1000);
  stream_.add_blackout(20, 60, 7, FTRACE_BLACKOUT_SOMEWHERE);
  stream_.add_blackout(30, 40, 5, FTRACE_BLACKOUT_FAMILIES);
  EXPECT_EQ(finish(1000), (Lines{"20 dark 1", "30 dark 2", "40 light 5", "60 light 7"}));
}

TEST_F(CpuStreamRecords, AfterAPauseNoBlackoutIsLeft) {
  stream_.note_position(1000);
  stream_.add_blackout(5, 20, 7, FTRACE_BLACKOUT_SOMEWHERE);
  stream_.add_pause(10, true);
  stream_.add_pause(30, false);
  stream_.add_blackout(50, 60, 3, FTRACE_BLACKOUT_SOMEWHERE);
  stage(4);
  const Lines lines = finish(1000);
  EXPECT_EQ(lines.back(), "60 light 3") << "nothing begins again";
}

TEST_F(CpuStreamRecords, ABlackoutOfFamiliesIsCutAtTheEnd) {
  stream_.note_position(1000);
  end_ = 20;
  stream_.add_blackout(20, 30, 3, FTRACE_BLACKOUT_FAMILIES);
  stream_.add_blackout(21, 30, 4, FTRACE_BLACKOUT_FAMILIES);
  stream_.add_blackout(22, 30, 40, FTRACE_BLACKOUT_FAMILIES);
  EXPECT_EQ(finish(20), (Lines{"20 dark 2", "20 light 3"}));
  EXPECT_EQ(stream_.late().family_events, 44u);
  EXPECT_EQ(stream_.late().family_lost, 44u);
  EXPECT_EQ(stream_.late().events, 0u);
}

} // namespace
} // namespace ovnitrace
