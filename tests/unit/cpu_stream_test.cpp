// SPDX-License-Identifier: BSD-2-Clause
// What waits on a CPU for its transitions: user/record/cpu_stream.
#include "tests/unit/support/chunks.h"
#include "user/chunk/waiting_buffer.h"
#include "user/record/cpu_stream.h"

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
  WaitingBuffer queue_{output_, 4, 1 << 16};
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

// A batch was lost and no other has come: what is staged cannot be read.
TEST_F(CpuStreamTest, SoManyLifeEventsWaitAtMost) {
  stage_.batch.lost = CAPTURE_BATCH;
  add_renames(1 << 16);
  stream_.settle(stage_, time_);
  EXPECT_EQ(stream_.writer().last_time(), 0u) << "they wait";
  add_renames(1);
  stream_.settle(stage_, time_);
  EXPECT_EQ(stream_.writer().last_time(), time_) << "and no longer";
  stream_.finish();
}

} // namespace
} // namespace ovnitrace
