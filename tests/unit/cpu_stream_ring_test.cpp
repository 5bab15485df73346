// SPDX-License-Identifier: BSD-2-Clause
// What comes out of a CPU's ring, in order of time: user/record/cpu_stream.
#include "user/record/cpu_stream.h"

#include "tests/unit/support/chunks.h"
#include "tests/unit/support/memory_ring.h"
#include "user/chunk/linked_chunks.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <linux/bpf.h>

#include <map>
#include <string>
#include <vector>

namespace ovnitrace {
namespace {

using Lines = std::vector<std::string>;

class CpuStreamRing : public testing::Test {
protected:
  CpuStreamRing() { stream_.set_ring(ring_.file(), kBytes); }
  static family_record family(uint64_t time, uint16_t code = FTrace_EVT_user_event_0) {
    family_record record = {};
    record.time = time;
    record.code = code;
    return record;
  }
  static sched_batch batch(uint64_t first, uint64_t step = 10) {
    sched_batch all = {};
    for (uint32_t n = 0; n < CAPTURE_BATCH; n++)
      all.records[n] = {SCHED_WHEN(first + n * step, 0),
                        SCHED_WORD(SCHED_KIND_WAKEUP, 0, 0, 7, 8) | SCHED_A_TRACED};
    return all;
  }
  bool look(uint64_t now = 1000) {
    stream_.note_position(now);
    return stream_.drain();
  }
  /// Times and kinds of what is in the file.
  Lines finish() {
    stream_.take_stage(cpu_stage{});
    stream_.finish();
    queue_.close();
    static const std::map<uint32_t, const char *> kNames = {{FTrace_EVT_user_event_0, "user"},
                                                            {FTrace_EVT_interrupt_start, "irq"},
                                                            {FTrace_EVT_task_activate, "wakeup"},
                                                            {FTrace_EVT_blackout_start, "dark"},
                                                            {FTrace_EVT_blackout_end, "light"},
                                                            {FTrace_EXT_mark, "mark"},
                                                            {FTrace_EXT_exit, "exit"}};
    Lines lines;
    for (const ftrace_record &record : output_.files[0])
      if (const auto known = kNames.find(record.code); known != kNames.end())
        lines.push_back(fmt::format("{} {}", ftrace_record_tsc(&record), known->second));
    return lines;
  }

  static constexpr size_t kBytes = 64 << 10;
  test::MemoryRing ring_{kBytes};
  test::CollectingOutput output_;
  LinkedChunks queue_{output_, LinkedChunks::kWait, 1, 3, 1 << 16};
  ThreadRegistry registry_;
  std::atomic<uint64_t> end_{UINT64_MAX};
  CpuStream stream_{ChunkWriter(0, 0, registry_, queue_), end_};
};

TEST_F(CpuStreamRing, EventsOfFamiliesWaitForTheTransitionsBeforeThem) {
  ring_.produce_value(family(25));
  ring_.produce_value(family(15)); // an interrupt overtook it
  ring_.produce_value(family(25, FTrace_EVT_interrupt_start));
  ring_.produce_value(batch(10));
  ring_.produce("a message of another size");
  ring_.produce_value(family(900));
  EXPECT_TRUE(look());
  const Lines lines = finish();
  ASSERT_EQ(lines.size(), 4u + CAPTURE_BATCH);
  EXPECT_EQ(Lines(lines.begin(), lines.begin() + 6),
            (Lines{"10 wakeup", "15 user", "20 wakeup", "25 user", "25 irq", "30 wakeup"}));
  EXPECT_EQ(lines.back(), "900 user");
}

TEST_F(CpuStreamRing, ALookReadsUpToWhereTheProducerWas) {
  ring_.produce_value(family(25));
  stream_.note_position(1000);
  EXPECT_EQ(stream_.ring_used(), 32u);
  ring_.produce_value(family(30));
  EXPECT_TRUE(stream_.drain());
  EXPECT_EQ(stream_.ring_used(), 32u) << "the second waits for the next look";
  EXPECT_TRUE(look());
  EXPECT_EQ(stream_.ring_used(), 0u);
  ring_.produce_value(family(35), BPF_RINGBUF_BUSY_BIT);
  EXPECT_FALSE(look()) << "it is still being written";
  EXPECT_EQ(finish(), (Lines{"25 user", "30 user"}));
}

TEST_F(CpuStreamRing, EventsOfFamiliesAfterTheEndAreLeftOutAndCounted) {
  end_ = 25;
  for (const uint64_t time : {25, 26, 27})
    ring_.produce_value(family(time));
  EXPECT_TRUE(look());
  EXPECT_EQ(finish(), Lines{"25 user"});
  EXPECT_EQ(stream_.late().family_events, 2u);
  EXPECT_EQ(stream_.late().events, 0u);
}

TEST_F(CpuStreamRing, APauseLeavesOutAllButMarks) {
  stream_.add_pause(20, true);
  stream_.add_pause(40, false);
  stream_.add_mark(30, 1);
  life_record exits = {};
  exits.kind = LIFE_EXIT;
  exits.tid = exits.pid = 7;
  for (const uint64_t time : {10, 35, 50}) {
    exits.time = time;
    stream_.add_life(exits);
    ring_.produce_value(family(time + 1));
  }
  EXPECT_TRUE(look());
  EXPECT_EQ(finish(),
            (Lines{"10 exit", "11 user", "20 dark", "30 mark", "40 light", "50 exit", "51 user"}));
  EXPECT_EQ(stream_.late().family_events, 1u);
}

// The kernel has counted them as lost, pause or not. Who lost them is not to be seen.
TEST_F(CpuStreamRing, LossesOfFamiliesInAPauseAreStillCounted) {
  stream_.add_pause(20, true);
  stream_.add_pause(90, false);
  stream_.add_blackout(30, 40, 5, FTRACE_BLACKOUT_FAMILIES);
  stream_.add_blackout(50, 60, 6, FTRACE_BLACKOUT_SOMEWHERE);
  EXPECT_EQ(finish(), (Lines{"20 dark", "40 light", "90 light"}));
  EXPECT_EQ(stream_.late().family_lost, 0u);
}

// A batch was lost and no other has come: what is staged cannot be read.
TEST_F(CpuStreamRing, TheNumberOfWaitingEventsOfFamiliesIsLimited) {
  stream_.add_pause(1, true); // so that it is cheap to write them
  stream_.take_stage(cpu_stage{});
  cpu_stage unreadable = {};
  unreadable.batch.lost = CAPTURE_BATCH;
  constexpr size_t kOfARing = kBytes / 32, kMost = 1 << 20;
  for (size_t n = 0; n < kOfARing; n++)
    ring_.produce_value(family(100));
  EXPECT_TRUE(look());
  for (size_t n = kOfARing; n < kMost; n += kOfARing) {
    ring_.producer() += kBytes; // the same again
    EXPECT_TRUE(look());
  }
  stream_.settle(unreadable, 500);
  EXPECT_EQ(stream_.late().family_events, 0u) << "they wait";
  ring_.producer() += 32;
  EXPECT_TRUE(look());
  stream_.settle(unreadable, 500);
  EXPECT_EQ(stream_.late().family_events, kMost + 1) << "and no longer";
}

// Without a ring: the CPU was not there at the beginning.
TEST(CpuStreamWithoutARing, HasNothingToRead) {
  test::CollectingOutput output;
  LinkedChunks queue(output, LinkedChunks::kWait, 1, 3, 1 << 12);
  const ThreadRegistry registry;
  const std::atomic<uint64_t> end = UINT64_MAX;
  CpuStream stream(ChunkWriter(0, 0, registry, queue), end);
  stream.note_position(100);
  EXPECT_TRUE(stream.drain());
  EXPECT_EQ(stream.ring_used(), 0u);
}

} // namespace
} // namespace ovnitrace
