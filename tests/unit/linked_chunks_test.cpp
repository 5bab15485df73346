// SPDX-License-Identifier: BSD-2-Clause
// Chunks to an output, also one that stalls: user/chunk/linked_chunks.
#include "tests/unit/support/chunks.h"
#include "user/chunk/event_count.h"
#include "user/chunk/linked_chunks.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <latch>
#include <semaphore>
#include <set>
#include <thread>

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

/// Both things that can happen when there is no room.
class LinkedChunksOfAKind : public testing::TestWithParam<LinkedChunks::WhenFull> {};
INSTANTIATE_TEST_SUITE_P(, LinkedChunksOfAKind,
                         testing::Values(LinkedChunks::kWait, LinkedChunks::kDrop));

TEST_P(LinkedChunksOfAKind, LoseNothingWhileThereIsRoom) {
  test::CollectingOutput output;
  LinkedChunks queue(output, GetParam(), 2, 8, kRecords);
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

// Chunks go round when they come back: of six, three are there at once.
TEST(LinkedChunks, WaitWhenTheOutputStalls) {
  StallingOutput output;
  LinkedChunks queue(output, LinkedChunks::kWait, 1, 2, kRecords);
  std::set<const Chunk *> lent;
  uint64_t events = 0;
  std::latch all_given(3);
  std::thread reader([&] {
    for (uint32_t n = 0; n < 6; n++) {
      Chunk *chunk = queue.borrow(0);
      lent.insert(chunk);
      chunk->records = test::event_chunk(0, n, 100 * (n + 1), 10).records;
      events += events_in(chunk->records);
      queue.give(chunk);
      if (n < 3)
        all_given.count_down();
    }
  });
  output.reached.wait();
  all_given.wait(); // the reader cannot get a fourth one
  output.go.count_down();
  reader.join();
  queue.close();
  EXPECT_EQ(lent.size(), 3u);
  EXPECT_EQ(events_in(output.kept.files[0]), events);
  EXPECT_EQ(output.kept.count(0, FTrace_EVT_blackout_end), 0u);
  EXPECT_EQ(queue.records_dropped(), 0u);
  EXPECT_EQ(queue.error(), "");
}

// Nobody who fills chunks waits, and every event is there or in a blackout.
TEST(LinkedChunks, DropAndCountWhenTheOutputStalls) {
  StallingOutput output;
  LinkedChunks queue(output, LinkedChunks::kDrop, 2, 2, kRecords);
  uint64_t events = 0;
  EventLoss dropped;
  const auto give = [&](uint16_t cpu, uint32_t number, uint16_t last = FTrace_EVT_next_chunk) {
    const Chunk chunk = test::event_chunk(cpu, number, 100 * (number + 1), 10 + number, last);
    events += events_in(chunk.records);
    if (cpu == 1 || number > 1)
      dropped.add(chunk.records);
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
  dropped.add(lent->records);
  dropped.add(other->records);
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
  EXPECT_EQ(queue.error(),
            "what takes the chunks was too slow: " + std::to_string(queue.dropped().lost) +
                " events are missing, shown as blackouts; try more --chunks");
  EXPECT_EQ(queue.records_dropped(), dropped.records);
  // The blackouts and the end are in the trace in place of what is missing.
  EXPECT_EQ(queue.dropped().counted, dropped.counted - 5);
  uint64_t blackouts = 0;
  std::vector<uint64_t> times;
  for (uint16_t cpu : {0, 1})
    for (const ftrace_record &record : output.kept.files[cpu])
      if (record.code == FTrace_EVT_blackout_start) {
        times.push_back(ftrace_record_tsc(&record));
      } else if (record.code == FTrace_EVT_blackout_end) {
        blackouts += record.par2;
        times.push_back(ftrace_record_tsc(&record));
      }
  EXPECT_EQ(times, (std::vector<uint64_t>{300, 702, 100, 202}));
  EXPECT_EQ(queue.dropped().logged, blackouts);
  EXPECT_EQ(queue.dropped().lost, blackouts);

  // Chunks 0, 1, and one for all that is missing.
  std::vector<uint32_t> numbers;
  for (const ftrace_record &record : output.kept.files[0])
    if (record.code == FTrace_EXT_chunk)
      numbers.push_back(record.par2);
  EXPECT_EQ(numbers, (std::vector<uint32_t>{0, 1, 2}));
}

TEST(LinkedChunks, AreNumberedAnewAfterAGap) {
  StallingOutput output;
  LinkedChunks queue(output, LinkedChunks::kDrop, 1, 1, kRecords);
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

TEST(LinkedChunks, AreNumberedAnewAfterEachGap) {
  SteppingOutput output;
  LinkedChunks queue(output, LinkedChunks::kDrop, 1, 1, kRecords);
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

// A gap of one CPU between chunks of another one, which keep their numbers.
TEST(LinkedChunks, AGapIsOfItsCpuOnly) {
  SteppingOutput output;
  LinkedChunks queue(output, LinkedChunks::kDrop, 3, 2, kRecords);
  const auto taken = [&](uint16_t cpu, uint32_t number) {
    const uint64_t dropped = queue.records_dropped();
    test::give(queue, test::event_chunk(cpu, number, 100 * (number + 1), 5));
    return queue.records_dropped() == dropped;
  };
  const auto write_one = [&] { // the next one is begun then, so that one less is under way
    output.go.release();
    output.reached.acquire();
  };
  EXPECT_TRUE(taken(2, 4));
  output.reached.acquire();
  EXPECT_TRUE(taken(2, 5));
  for (uint32_t number = 6; number < 9; number++)
    EXPECT_FALSE(taken(2, number)) << "two are under way";
  write_one();
  EXPECT_TRUE(taken(1, 9));
  EXPECT_FALSE(taken(2, 9));
  write_one();
  EXPECT_TRUE(taken(2, 10)) << "behind what stands for 6 to 9";
  output.go.release(4);
  queue.close();
  const auto values = [&](uint16_t cpu, uint16_t code) {
    std::vector<uint32_t> all;
    for (const ftrace_record &record : output.kept.files[cpu])
      if (record.code == code)
        all.push_back(record.par2);
    return all;
  };
  using Values = std::vector<uint32_t>;
  EXPECT_EQ(values(2, FTrace_EXT_chunk), (Values{4, 5, 6, 7}));
  EXPECT_EQ(values(2, FTrace_EVT_next_chunk), (Values{5, 6, 7, 8}));
  EXPECT_EQ(values(2, FTrace_EVT_blackout_end), Values{20});
  EXPECT_EQ(values(1, FTrace_EXT_chunk), Values{9});
  EXPECT_EQ(values(1, FTrace_EVT_next_chunk), Values{10});
  EXPECT_EQ(values(0, FTrace_EXT_chunk), Values{});
  std::vector<uint64_t> times;
  for (const ftrace_record &record : output.kept.files[2]) {
    if (record.code == FTrace_EXT_chunk) {
      EXPECT_EQ(record.par1, 2) << "its CPU";
    }
    if (record.code == FTrace_EVT_blackout_start || record.code == FTrace_EVT_blackout_end)
      times.push_back(ftrace_record_tsc(&record));
  }
  EXPECT_EQ(times, (std::vector<uint64_t>{700, 1004})) << "from 6 to the end of 9";
  EXPECT_EQ(queue.error(), "what takes the chunks was too slow: 20 events are missing, shown as "
                           "blackouts; try more --chunks");
}

TEST(LinkedChunks, OneEventIsMissing) {
  StallingOutput output;
  LinkedChunks queue(output, LinkedChunks::kDrop, 1, 1, kRecords);
  test::give(queue, test::event_chunk(0, 1, 100, 5));
  output.reached.wait();
  test::give(queue, test::event_chunk(0, 2, 200, 1));
  EXPECT_EQ(queue.error(), "what takes the chunks was too slow: 1 event is missing, shown as "
                           "blackouts; try more --chunks");
  output.go.count_down();
}

// A blackout says at most that 2^32 - 1 events are missing.
TEST(LinkedChunks, MoreEventsAreMissingThanABlackoutCanSay) {
  StallingOutput output;
  LinkedChunks queue(output, LinkedChunks::kDrop, 1, 1, kRecords);
  test::give(queue, test::event_chunk(0, 1, 100, 5));
  output.reached.wait();
  Chunk lost = test::event_chunk(0, 2, 200, 2);
  ftrace_record &record = lost.records[lost.records.size() - 2];
  ftrace_record_set(&record, FTrace_EVT_blackout_end, FTRACE_BLACKOUT_TRANSITIONS,
                    ftrace_record_tsc(&record), UINT32_MAX);
  test::give(queue, lost);
  output.go.count_down();
  queue.close();
  EXPECT_EQ(queue.dropped().lost, uint64_t(UINT32_MAX) + 1);
  std::vector<uint32_t> missing;
  for (const ftrace_record &one : output.kept.files[0])
    if (one.code == FTrace_EVT_blackout_end)
      missing.push_back(one.par2);
  EXPECT_EQ(missing, std::vector<uint32_t>{UINT32_MAX});
}

TEST_P(LinkedChunksOfAKind, ReportTheFirstFailureAndCountWhatWasRefused) {
  const Chunk chunk = test::event_chunk(0, 0, 1000, 10);
  test::CollectingOutput output(2 * chunk.records.size());
  LinkedChunks queue(output, GetParam(), 1, 8, kRecords);
  for (uint32_t n = 0; n < 5; n++)
    test::give(queue, chunk);
  queue.close();
  EXPECT_EQ(queue.error(), "no room");
  EXPECT_EQ(queue.records_dropped(), 3 * chunk.records.size());
  EXPECT_EQ(queue.dropped().lost, 0u);
}

// The documented maximum of --chunks: 64 GiB, if it were taken at once.
TEST_P(LinkedChunksOfAKind, TakeMemoryWhenItIsNeeded) {
  const auto pages = [] {
    uint64_t size = 0;
    std::ifstream("/proc/self/statm") >> size;
    return size;
  };
  test::CollectingOutput output;
  const uint64_t before = pages();
  LinkedChunks queue(output, GetParam(), 2, 1 << 16, (1 << 20) / sizeof(ftrace_record));
  for (uint32_t n = 0; n < 3; n++)
    test::give(queue, test::event_chunk(0, n, 1000 * (n + 1), 100));
  EXPECT_LT((pages() - before) * uint64_t(getpagesize()), uint64_t(1) << 30);
}

} // namespace
} // namespace ovnitrace
