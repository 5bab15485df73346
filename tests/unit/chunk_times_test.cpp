// SPDX-License-Identifier: BSD-2-Clause
// Times of a chunk as differences: emulator/format/chunk_times.
#include "emulator/format/chunk_times.h"

#include "tests/unit/support/trace_builder.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace ovnitrace {
namespace {

using Records = std::vector<ftrace_record>;

bool same(const Records &a, const Records &b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof a[0]) == 0);
}

/// A whole chunk, with births that are long before, and times of all 64 bits.
Records chunk_of(std::mt19937_64 &random, bool is_last) {
  test::ChunkBuilder chunk(0);
  uint64_t time = random() >> (random() % 64);
  for (unsigned n = unsigned(random() % 100); n; n--)
    chunk.at(time += random() % 5000)
        .id(uint16_t(n), uint32_t(n), 1, "thread", random() >> (random() % 64))
        .dispatch(uint16_t(n));
  chunk.record(is_last ? FTrace_EVT_trace_stop : FTrace_EVT_next_chunk, 0, 1);
  return chunk.records();
}

/// As the documentation says: the time of EXT_format, and then by how much more each is.
Records by_hand(const Records &chunk) {
  Records packed = chunk;
  packed[1].par2 = 1;
  for (size_t n = 2; n < chunk.size(); n++)
    ftrace_record_set(&packed[n], chunk[n].code, chunk[n].par1,
                      ftrace_record_tsc(&chunk[n]) - ftrace_record_tsc(&chunk[n - 1]),
                      chunk[n].par2);
  return packed;
}

/// In pieces of every size, as blocks of a file are.
Records restored(Records records, std::mt19937_64 &random) {
  TimeRestorer times;
  for (size_t at = 0; at < records.size();) {
    const size_t piece = std::min<size_t>(1 + random() % 40, records.size() - at);
    times.restore(std::span(records).subspan(at, piece));
    at += piece;
  }
  return records;
}

TEST(ChunkTimes, AreRestoredHoweverTheChunkIsSplit) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 300; round++) {
    Records plain, packed;
    for (uint64_t chunks = 1 + random() % 5; chunks; chunks--) {
      const Records chunk = chunk_of(random, chunks == 1);
      Records differences = chunk;
      const bool packs = random() % 3 != 0; // some chunks of a file have times
      if (packs) {
        ASSERT_TRUE(make_differences(differences));
        ASSERT_TRUE(same(differences, by_hand(chunk)));
      }
      plain.insert(plain.end(), chunk.begin(), chunk.end());
      packed.insert(packed.end(), differences.begin(), differences.end());
    }
    ASSERT_TRUE(same(restored(packed, random), plain));
  }
}

// What is no chunk as this version writes it stays as it is.
TEST(ChunkTimes, StayWhereTheChunkIsNotWhole) {
  std::mt19937_64 random(2);
  const Records chunk = chunk_of(random, false);
  ASSERT_GT(chunk.size(), 10u);
  const auto stays = [](Records records) {
    const Records before = records;
    return !make_differences(records) && same(records, before);
  };
  for (size_t length = 0; length < chunk.size(); length++)
    EXPECT_TRUE(stays({chunk.begin(), chunk.begin() + long(length)})) << length;
  Records older = chunk, packed = chunk, ended = chunk, started = chunk;
  older[1].par1 = 2; // a reader of that version knows of no differences
  EXPECT_TRUE(stays(older));
  packed[1].par2 = FTRACE_FORMAT_DIFFERENCES;
  EXPECT_TRUE(stays(packed));
  ended[6].code = FTrace_EVT_trace_stop;
  EXPECT_TRUE(stays(ended));
  started[6].code = FTrace_EXT_format;
  EXPECT_TRUE(stays(started));
  EXPECT_FALSE(stays(chunk));
}

// Where a part of a file is damaged, nothing is known of differences after it.
TEST(ChunkTimes, DifferencesAreNotAddedAcrossAGap) {
  std::mt19937_64 random(3);
  Records records = by_hand(chunk_of(random, false));
  ASSERT_GT(records.size(), 10u);
  const ftrace_record after = records[8];
  TimeRestorer times;
  times.restore(std::span(records).first(5));
  times.reset();
  times.restore(std::span(records).subspan(8));
  EXPECT_EQ(std::memcmp(&records[8], &after, sizeof after), 0);
}

// Any records at all: what was changed is changed back.
TEST(ChunkTimes, AreRestoredForAnyRecords) {
  std::mt19937_64 random(4);
  constexpr uint16_t kCodes[] = {FTrace_EVT_cycles_per_msec, FTrace_EXT_format,
                                 FTrace_EXT_chunk,           FTrace_EVT_numevents,
                                 FTrace_EVT_next_chunk,      FTrace_EVT_trace_stop,
                                 FTrace_EVT_task_dispatch};
  unsigned changed = 0;
  for (int round = 0; round < 20000; round++) {
    Records records = chunk_of(random, round % 2);
    records.resize(std::min<size_t>(records.size(), 12));
    for (ftrace_record &record : records)
      if (random() % 8 == 0)
        record.code = kCodes[random() % std::size(kCodes)];
    const Records before = records;
    if (!make_differences(records))
      continue;
    changed++;
    ASSERT_TRUE(same(restored(records, random), before));
  }
  EXPECT_GT(changed, 100u);
}

} // namespace
} // namespace ovnitrace
