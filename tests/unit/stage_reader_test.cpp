// SPDX-License-Identifier: BSD-2-Clause
// Reading a staging area while it is filled, against the producer of bpf/ovnitrace.bpf.c step by
// step.
#include "user/record/stage_reader.h"

#include "tests/unit/support/cases.h"
#include "user/record/family_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <random>
#include <thread>
#include <utility>
#include <vector>

namespace ovnitrace {
namespace {

/// What the BPF programs do, stopped wherever a test wants.
class Producer {
public:
  void stage() {
    begin_stage();
    if (next_ == CAPTURE_BATCH)
      flush(true);
    end_stage();
  }
  void begin_stage() {
    uint32_t n = area.count & (CAPTURE_BATCH - 1);
    ++time;
    area.batch.records[n] = {SCHED_WHEN(time, 0), time};
    next_ = n + 1;
  }
  void flush(bool room) {
    area.events += CAPTURE_BATCH;
    if (room) {
      ring.push_back(area.batch);
      area.batch.lost = 0;
    } else {
      area.batch.lost += CAPTURE_BATCH;
    }
  }
  void end_stage() { area.count = next_ % CAPTURE_BATCH; }
  bool full() const { return next_ == CAPTURE_BATCH; }

  cpu_stage area = {};
  std::vector<sched_batch> ring;
  uint64_t time = 0;

private:
  uint32_t next_ = 0;
};

/// What the recorder does with it.
class Reader {
public:
  bool look(Producer &producer) {
    for (const sched_batch &batch : producer.ring)
      take(batch, CAPTURE_BATCH);
    producer.ring.clear();
    return stage.look(producer.area,
                      [&](const sched_record &record) { seen.push_back(record.word); });
  }
  void take(const sched_batch &batch, uint32_t count) {
    uint32_t taken = stage.next_batch(batch);
    if (batch.lost)
      lost += batch.lost - taken, taken = 0;
    for (uint32_t n = taken; n < count; n++)
      seen.push_back(batch.records[n].word);
  }
  void finish(Producer &producer) {
    look(producer);
    take(producer.area.batch, producer.area.count);
  }

  StageReader stage;
  std::vector<uint64_t> seen;
  uint64_t lost = 0;
};

std::vector<uint64_t> up_to(uint64_t last) {
  std::vector<uint64_t> all;
  for (uint64_t time = 1; time <= last; time++)
    all.push_back(time);
  return all;
}

TEST(StageReader, TakesNothingAfterItSawTheCountOfTheAreaBefore) {
  Producer producer;
  Reader reader;
  for (uint32_t n = 0; n <= CAPTURE_BATCH; n++)
    producer.stage();
  const uint32_t count = std::exchange(producer.area.count, CAPTURE_BATCH - 1); // as if read before
  reader.look(producer);
  producer.area.count = count;
  producer.stage();
  EXPECT_FALSE(reader.look(producer));
  EXPECT_EQ(reader.seen.size(), CAPTURE_BATCH);
  reader.finish(producer);
  EXPECT_EQ(reader.seen.size(), CAPTURE_BATCH + 2u);
}

TEST(StageReader, TakesRecordsAtTheSecondReadOnly) {
  Producer producer;
  Reader reader;
  for (int n = 0; n < 5; n++)
    producer.stage();
  EXPECT_FALSE(reader.look(producer));
  EXPECT_TRUE(reader.seen.empty());
  producer.stage();
  EXPECT_TRUE(reader.look(producer));
  EXPECT_EQ(reader.seen, up_to(5));
  EXPECT_TRUE(reader.look(producer));
  EXPECT_EQ(reader.seen, up_to(6));
}

TEST(StageReader, TheFirstLookIsNotComplete_AlsoAfterABatch) {
  Producer producer;
  Reader reader;
  for (int n = 0; n < 40; n++)
    producer.stage();
  EXPECT_FALSE(reader.look(producer)) << "8 of the area may be older than the capture's start";
  reader.look(producer);
  EXPECT_EQ(reader.seen, up_to(40));
}

TEST(StageReader, ABatchAddsOnlyUnreadRecords) {
  Producer producer;
  Reader reader;
  for (int n = 0; n < 20; n++)
    producer.stage();
  reader.look(producer), reader.look(producer);
  for (int n = 0; n < 20; n++)
    producer.stage();
  EXPECT_TRUE(reader.look(producer)) << "all of this batch is younger than the last look";
  EXPECT_EQ(reader.seen, up_to(32));
  reader.finish(producer);
  EXPECT_EQ(reader.seen, up_to(40));
}

TEST(StageReader, IsNotComplete_WhileABatchIsInTheRing) {
  Producer producer;
  Reader reader;
  for (int n = 0; n < 3; n++)
    producer.stage();
  reader.look(producer), reader.look(producer);
  for (int n = 0; n < 32; n++)
    producer.stage();
  std::vector<sched_batch> late;
  late.swap(producer.ring);
  EXPECT_FALSE(reader.look(producer)) << "the batch came after the reader looked into the ring";
  late.swap(producer.ring);
  reader.look(producer);
  reader.finish(producer);
  EXPECT_EQ(reader.seen, up_to(35));
}

TEST(StageReader, AnAreaThatIsBeingHandedOverIsNotTakenForANewOne) {
  Producer producer;
  Reader reader;
  for (int n = 0; n < 31; n++)
    producer.stage();
  reader.look(producer), reader.look(producer);
  producer.begin_stage();
  ASSERT_TRUE(producer.full());
  producer.flush(true); // counted, in the ring, and count is 31 still
  EXPECT_FALSE(reader.look(producer));
  EXPECT_FALSE(reader.look(producer));
  producer.end_stage();
  reader.finish(producer);
  EXPECT_EQ(reader.seen, up_to(32));
}

TEST(StageReader, RecordsTakenFromALostBatchAreNotLost) {
  Producer producer;
  Reader reader;
  for (int n = 0; n < 10; n++)
    producer.stage();
  reader.look(producer), reader.look(producer);
  for (int n = 10; n < 31; n++)
    producer.stage();
  producer.begin_stage(), producer.flush(false), producer.end_stage();
  EXPECT_FALSE(reader.look(producer));
  for (int n = 0; n < 32; n++)
    producer.stage();
  reader.finish(producer);
  EXPECT_EQ(reader.lost, 22u);
  ASSERT_EQ(reader.seen.size(), 10u + 32);
  EXPECT_EQ(reader.seen[9], 10u);
  EXPECT_EQ(reader.seen[10], 33u);
}

TEST(StageReader, RecordsAreCopiedBeforeTheFirstIsTaken) {
  Producer producer;
  Reader reader;
  for (int n = 0; n < 5; n++)
    producer.stage();
  reader.look(producer);
  reader.stage.look(producer.area, [&](const sched_record &record) {
    reader.seen.push_back(record.word);
    for (int n = 0; n < 32; n++)
      producer.stage(); // over the records that were staged
  });
  EXPECT_EQ(reader.seen, up_to(5));
}

/// A CPU that stages records on a thread of its own.
class RunningProducer {
public:
  explicit RunningProducer(uint64_t last) : thread_([this, last] { run(last); }) {}
  ~RunningProducer() { thread_.join(); }

  std::vector<sched_batch> ring() {
    const std::lock_guard lock(lock_);
    return std::exchange(ring_, {});
  }
  cpu_stage area = {};
  std::atomic<bool> ended = false;

private:
  void run(uint64_t last) {
    std::mt19937 random(1);
    for (uint64_t time = 1, n = 0; time <= last; time++) {
      __atomic_store_n(&area.batch.records[n].when, SCHED_WHEN(time, 0), __ATOMIC_RELAXED);
      __atomic_store_n(&area.batch.records[n].word, time, __ATOMIC_RELAXED);
      if (++n == CAPTURE_BATCH) {
        __atomic_store_n(&area.events, area.events + CAPTURE_BATCH, __ATOMIC_SEQ_CST);
        const std::lock_guard lock(lock_);
        ring_.push_back(area.batch);
        n = 0;
      }
      __atomic_store_n(&area.count, uint32_t(n), __ATOMIC_RELEASE);
      if (random() % 64 == 0)
        std::this_thread::yield();
    }
    ended = true;
  }

  std::mutex lock_;
  std::vector<sched_batch> ring_;
  std::thread thread_; ///< last: it uses the others
};

TEST(StageReader, TakesEachRecordOnceInOrder_WhileTheAreaIsFilled) {
  const uint64_t last = 50'000ull * test::cases(1);
  RunningProducer producer(last);
  Reader reader;
  for (bool ended = false; !ended;) {
    ended = producer.ended;
    for (const sched_batch &batch : producer.ring())
      reader.take(batch, CAPTURE_BATCH);
    reader.stage.look(producer.area,
                      [&](const sched_record &record) { reader.seen.push_back(record.word); });
  }
  reader.take(producer.area.batch, producer.area.count);
  EXPECT_TRUE(reader.seen == up_to(last)) << "of " << last << " records " << reader.seen.size();
}

TEST(StageReader, TakesEachRecordOnceInOrder_WhateverTheTurns) {
  for (uint32_t seed = 1; seed <= test::cases(200); seed++) {
    std::mt19937 random(seed);
    Producer producer;
    Reader reader;
    for (int turn = 0; turn < 500; turn++) {
      if (random() % 3 == 0) {
        uint64_t before = producer.time;
        reader.look(producer);
        bool complete = reader.look(producer);
        if (complete) {
          ASSERT_EQ(reader.seen.size(), before) << "complete, but something of before is missing";
        }
      } else {
        producer.begin_stage();
        if (random() % 4 == 0)
          reader.look(producer);
        if (producer.full()) {
          producer.flush(true);
          if (random() % 2)
            reader.look(producer);
        }
        producer.end_stage();
      }
    }
    reader.finish(producer);
    ASSERT_EQ(reader.seen, up_to(producer.time)) << "seed " << seed;
  }
}

TEST(FamilyQueue, GivesBackByTime) {
  FamilyQueue queue;
  std::mt19937 random(7);
  uint64_t expected = 0, pushed = 0;
  for (int round = 0; round < 2000; round++) {
    uint64_t a = ++pushed, b = ++pushed, c = ++pushed; // an interrupt overtook: c, a, b
    for (uint64_t time : {c, a, b})
      queue.push({.time = time, .code = 0, .par1 = 0, .par2 = 0, .par1_tid = 0, .par2_tid = 0});
    for (uint32_t n = random() % 5; n-- > 0 && !queue.empty();) {
      EXPECT_EQ(queue.first_time(), expected + 1);
      ASSERT_EQ(queue.pop().time, ++expected);
    }
  }
  while (!queue.empty())
    ASSERT_EQ(queue.pop().time, ++expected);
  EXPECT_EQ(expected, pushed);
}

} // namespace
} // namespace ovnitrace
