// SPDX-License-Identifier: BSD-2-Clause
// Chunks to an output that stalls: user/chunk/dropping_buffer.
#include "tests/unit/support/chunks.h"
#include "user/chunk/dropping_buffer.h"
#include "user/chunk/event_count.h"

#include <gtest/gtest.h>

#include <latch>
#include <semaphore>

namespace ovnitrace {
namespace {

/// Holds the first chunk until it may go on.
class StallingOutput final : public ChunkDestination {
public:
  size_t write(const Chunk &chunk) override {
    if (!std::exchange(begun, true)) {
      reached.count_down();
      go.wait();
    }
    return kept.write(chunk);
  }
  void finish() override { kept.finish(); }
  std::string error() const override { return kept.error(); }

  std::latch reached{1}, go{1};
  bool begun = false;
  test::CollectingOutput kept;
};

uint64_t events_in(const std::vector<ftrace_record> &records) {
  uint64_t events = 0;
  for (const ftrace_record &record : records)
    events += events_of(record);
  return events;
}

constexpr size_t kRecords = 40;

TEST(DroppingBuffer, LosesNothingWhileThereIsRoom) {
  test::CollectingOutput output;
  DroppingBuffer queue(output, 2, 8, kRecords);
  std::vector<ftrace_record> given;
  for (uint32_t n = 0; n < 4; n++) {
    const Chunk chunk = test::event_chunk(1, n, 100 * (n + 1), 20);
    given.insert(given.end(), chunk.records.begin(), chunk.records.end());
    test::give(queue, chunk);
  }
  queue.close();
  EXPECT_EQ(queue.error(), "");
  EXPECT_EQ(queue.records_dropped(), 0u);
  ASSERT_EQ(output.files[1].size(), given.size());
  EXPECT_EQ(memcmp(output.files[1].data(), given.data(), given.size() * sizeof(ftrace_record)), 0);
  EXPECT_EQ(output.finished, 1);
}

// Nobody who fills chunks waits, and every event is there or in a blackout.
TEST(DroppingBuffer, DropsAndCountsWhenTheOutputStalls) {
  StallingOutput output;
  DroppingBuffer queue(output, 2, 2, kRecords);
  uint64_t events = 0;
  const auto give = [&](uint16_t cpu, uint32_t number, uint16_t last = FTrace_EVT_next_chunk) {
    const Chunk chunk = test::event_chunk(cpu, number, 100 * (number + 1), 10 + number, last);
    events += events_in(chunk.records);
    test::give(queue, chunk);
  };
  give(0, 0);
  output.reached.wait(); // one is under way
  give(0, 1);            // one waits
  for (uint32_t n = 2; n < 6; n++)
    give(0, n);
  give(1, 0);
  Chunk *lent = queue.borrow(0), *other = queue.borrow(1); // there is one for each CPU, always
  lent->records = test::event_chunk(0, 6, 700, 3).records;
  other->records = test::event_chunk(1, 1, 200, 3, FTrace_EVT_trace_stop).records;
  queue.give(lent);
  queue.give(other);
  events += 6;
  output.go.count_down();
  queue.close();
  EXPECT_EQ(events_in(output.kept.files[0]) + events_in(output.kept.files[1]), events);
  EXPECT_EQ(output.kept.count(0, FTrace_EVT_blackout_end), 1u);
  EXPECT_EQ(output.kept.count(1, FTrace_EVT_blackout_end), 1u);
  EXPECT_EQ(output.kept.count(1, FTrace_EVT_trace_stop), 1u)
      << "the end is reported, if nothing else";
  EXPECT_NE(queue.error().find("events are missing, shown as blackouts"), std::string::npos);
  EXPECT_GT(queue.records_dropped(), 0u);
  uint64_t blackouts = 0;
  for (uint16_t cpu : {0, 1})
    for (const ftrace_record &record : output.kept.files[cpu])
      if (record.code == FTrace_EVT_blackout_end)
        blackouts += record.par2;
  EXPECT_EQ(queue.dropped().logged, blackouts);
  EXPECT_EQ(queue.dropped().lost, blackouts);

  // Chunks 0, 1, and one for all that is missing.
  std::vector<uint32_t> numbers;
  for (const ftrace_record &record : output.kept.files[0])
    if (record.code == FTrace_EXT_chunk)
      numbers.push_back(record.par2);
  EXPECT_EQ(numbers, (std::vector<uint32_t>{0, 1, 2}));
}

TEST(DroppingBuffer, NumbersChunksAnewAfterAGap) {
  StallingOutput output;
  DroppingBuffer queue(output, 1, 1, kRecords);
  test::give(queue,
             test::event_chunk(0, 7, 100, 5)); // a flight recorder's first can have any number
  output.reached.wait();
  for (uint32_t n = 8; n < 11; n++)
    test::give(queue, test::event_chunk(0, n, 100 * n, 5));
  output.go.count_down();
  // The queue takes chunks again when the first is written: given until one is.
  uint32_t number = 11;
  for (uint64_t dropped = queue.records_dropped(), before = dropped + 1; before != dropped;
       number++) {
    before = dropped;
    test::give(queue, test::event_chunk(0, number, 100 * number, 5));
    dropped = queue.records_dropped();
  }
  queue.close();
  const std::vector<ftrace_record> &file = output.kept.files[0];
  std::vector<uint32_t> numbers, nexts;
  for (const ftrace_record &record : file) {
    if (record.code == FTrace_EXT_chunk)
      numbers.push_back(record.par2);
    if (record.code == FTrace_EVT_next_chunk)
      nexts.push_back(record.par2);
  }
  EXPECT_EQ(numbers, (std::vector<uint32_t>{7, 8, 9}));
  EXPECT_EQ(nexts, (std::vector<uint32_t>{8, 9, 10}));
  EXPECT_EQ(events_in(file), 5u * (number - 7));
}

/// Writes one chunk each time that it may.
class SteppingOutput final : public ChunkDestination {
public:
  size_t write(const Chunk &chunk) override {
    reached.release();
    go.acquire();
    return kept.write(chunk);
  }
  void finish() override {}
  std::string error() const override { return ""; }

  std::counting_semaphore<> reached{0}, go{0};
  test::CollectingOutput kept;
};

TEST(DroppingBuffer, NumbersChunksAnewAfterEachGap) {
  SteppingOutput output;
  DroppingBuffer queue(output, 1, 1, kRecords);
  uint32_t number = 0;
  const auto give = [&] { // whether it was taken
    const uint64_t dropped = queue.records_dropped();
    test::give(queue, test::event_chunk(0, number, 100 * (number + 1), 5));
    number++;
    return queue.records_dropped() == dropped;
  };
  ASSERT_TRUE(give());
  for (int gaps = 0; gaps < 2; gaps++) {
    output.reached.acquire(); // a chunk is under way: the next ones find no room
    for (int n = 0; n < 3; n++)
      EXPECT_FALSE(give());
    output.go.release();
    while (!give())
      ;
    output.reached.acquire(); // what stands for the gap
    output.go.release();
  }
  output.go.release(); // the last chunk
  queue.close();
  std::vector<uint32_t> numbers;
  for (const ftrace_record &record : output.kept.files[0])
    if (record.code == FTrace_EXT_chunk)
      numbers.push_back(record.par2);
  EXPECT_EQ(numbers, (std::vector<uint32_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(events_in(output.kept.files[0]), 5u * number);
}

TEST(DroppingBuffer, ReportsTheFirstFailureOfTheOutput) {
  test::CollectingOutput output(30);
  DroppingBuffer queue(output, 1, 8, kRecords);
  for (uint32_t n = 0; n < 3; n++)
    test::give(queue, test::event_chunk(0, n, 100 * (n + 1), 10));
  queue.close();
  EXPECT_EQ(queue.error(), "no room");
  EXPECT_GT(queue.records_dropped(), 0u);
}

} // namespace
} // namespace ovnitrace
