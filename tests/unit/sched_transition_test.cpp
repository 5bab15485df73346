// SPDX-License-Identifier: BSD-2-Clause
// The time and the system call of a transition, from the kernel's 16 bytes to the chunk.
#include "tests/unit/support/chunks.h"
#include "user/chunk/linked_chunks.h"
#include "user/record/cpu_stream.h"

#include <gtest/gtest.h>

namespace ovnitrace {
namespace {

constexpr uint64_t kTurn = 1ull << 48; ///< ns after which the time in a record starts anew
constexpr uint64_t kFar = kTurn / 2 - 1;

TEST(SchedTransition, HasTheTimeNearestToThatOfTheReader) {
  for (const uint64_t now : {uint64_t(0), uint64_t(5), kTurn / 2, kTurn - 1, kTurn, kTurn + 1,
                             7 * kTurn + kTurn / 2, 1000 * kTurn - 1, uint64_t(1) << 62})
    for (const uint64_t apart : {uint64_t(0), uint64_t(1), uint64_t(1000), kTurn / 4, kFar})
      for (const bool later : {false, true}) {
        if (!later && apart > now)
          continue;
        const uint64_t time = later ? now + apart : now - apart;
        EXPECT_EQ(time_of(SCHED_WHEN(time, 0xffff), now), time) << now << " " << apart << later;
      }
}

TEST(SchedTransition, KeepsWordAndCall) {
  const SchedTransition made =
      transition_of({SCHED_WHEN(3 * kTurn + 9, 2047), 0xfedcba9876543210}, 3 * kTurn);
  EXPECT_EQ(made.time, 3 * kTurn + 9);
  EXPECT_EQ(made.word, 0xfedcba9876543210);
  EXPECT_EQ(made.call, 2047);
}

class TransitionStream : public testing::Test {
protected:
  /// The records of what is staged, read at `now`.
  std::vector<ftrace_record> read(const cpu_stage &stage, uint64_t now) {
    stream_.note_position(now);
    stream_.take_stage(stage);
    end_ = now;
    stream_.finish();
    queue_.close();
    return output_.files[0];
  }
  test::CollectingOutput output_;
  LinkedChunks queue_{output_, LinkedChunks::kWait, 1, 3, 1 << 16};
  ThreadRegistry registry_;
  std::atomic<uint64_t> end_{UINT64_MAX};
  CpuStream stream_{ChunkWriter(0, 0, registry_, queue_), end_};
};

/// Also where one that was found out later stands behind them.
TEST_F(TransitionStream, IsInOrderWhereTheTimeStartsAnew) {
  cpu_stage stage = {};
  const uint64_t times[] = {kTurn - 20, kTurn - 10, kTurn + 10, kTurn - 15, kTurn + 20};
  for (const uint64_t time : times)
    stage.batch.records[stage.count++] = {
        SCHED_WHEN(time, 0), SCHED_WORD(SCHED_KIND_WAKEUP, 0, 0, 7, 8) | SCHED_A_TRACED};
  std::vector<uint64_t> woken;
  for (const ftrace_record &record : read(stage, kTurn + 100))
    if (record.code == FTrace_EVT_task_activate)
      woken.push_back(ftrace_record_tsc(&record));
  EXPECT_EQ(woken,
            (std::vector<uint64_t>{kTurn - 20, kTurn - 15, kTurn - 10, kTurn + 10, kTurn + 20}));
}

TEST_F(TransitionStream, ABlackoutHasTheTimesOfItsLoss) {
  cpu_stage stage = {};
  stage.batch.lost = CAPTURE_BATCH;
  stage.batch.lost_since = SCHED_WHEN(kTurn - 20, 77);
  stage.batch.records[stage.count++] = {SCHED_WHEN(kTurn + 10, 0),
                                        SCHED_WORD(SCHED_KIND_WAKEUP, 0, 0, 7, 8) | SCHED_A_TRACED};
  std::vector<std::pair<int, uint64_t>> dark;
  for (const ftrace_record &record : read(stage, kTurn + 100))
    if (record.code == FTrace_EVT_blackout_start || record.code == FTrace_EVT_blackout_end)
      dark.emplace_back(record.code, ftrace_record_tsc(&record));
  EXPECT_EQ(dark, (std::vector<std::pair<int, uint64_t>>{{FTrace_EVT_blackout_start, kTurn - 20},
                                                         {FTrace_EVT_blackout_end, kTurn + 10}}));
}

/// Each of the 2048 values, at its place in the record; an epilogue has none.
TEST_F(TransitionStream, ABlockedThreadHasItsCallInTheRecord) {
  constexpr uint32_t kPar2 = 8 | FTRACE_OFFCPU_DISK << 24;
  for (uint32_t round = 0; round < 2048; round += 16) {
    cpu_stage stage = {};
    for (uint32_t n = 0; n < 16; n++)
      stage.batch.records[stage.count++] = {
          SCHED_WHEN(100 + n, round + n),
          SCHED_WORD(SCHED_KIND_SWITCH, FTRACE_OFFCPU_DISK, 0, 7, 8) | SCHED_A_TRACED};
    test::CollectingOutput output;
    LinkedChunks queue(output, LinkedChunks::kWait, 1, 3, 1 << 16);
    CpuStream stream(ChunkWriter(0, 0, registry_, queue), end_);
    stream.note_position(500);
    stream.take_stage(stage);
    stream.finish();
    queue.close();
    uint32_t call = round;
    for (const ftrace_record &record : output.files[0])
      if ((record.code & 0xff) == FTrace_EVT_task_sleep) {
        EXPECT_EQ(record.code, FTrace_EVT_task_sleep | call >> 4 << 8);
        EXPECT_EQ(record.par2, kPar2 | call << 28);
        call++;
      }
    EXPECT_EQ(call, round + 16);
  }
}

TEST_F(TransitionStream, ASnapshotHasItsCallInTheRecord) {
  life_record life = {};
  life.time = 5;
  life.kind = LIFE_SNAPSHOT;
  life.call = FTRACE_CALL_COMPAT + 3;
  life.tid = life.pid = 7;
  life.arg = 2 | FTRACE_OFFCPU_SLEEP << 24;
  stream_.add_life(life);
  int found = 0;
  for (const ftrace_record &record : read({}, 100))
    if ((record.code & 0xff) == FTrace_EXT_snapshot) {
      found++;
      EXPECT_EQ(record.code >> 8, 1027 >> 4);
      EXPECT_EQ(record.par2, life.arg | uint32_t(1027) << 28);
    }
  EXPECT_EQ(found, 1);
}

} // namespace
} // namespace ovnitrace
