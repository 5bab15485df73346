// SPDX-License-Identifier: BSD-2-Clause
// Chunks that say what is missing, record by record: user/chunk/small_chunk, user/chunk/gap_chunk.
#include "user/chunk/gap_chunk.h"
#include "user/chunk/small_chunk.h"

#include <ovnitrace/ftrace_codes.h>

#include <gtest/gtest.h>

#include <tuple>
#include <vector>

namespace ovnitrace {
namespace {

/// Code, parameter 1, time, parameter 2.
using Record = std::tuple<unsigned, unsigned, uint64_t, uint32_t>;
using Records = std::vector<Record>;

Records records_of(const Chunk &chunk) {
  Records all;
  for (const ftrace_record &record : chunk.records)
    all.emplace_back(record.code, record.par1, ftrace_record_tsc(&record), record.par2);
  return all;
}

TEST(SmallChunk, HasAHeaderItsEventsAndTheNumberOfTheNext) {
  const Chunk chunk = small_chunk(
      3, 9, {{100, FTrace_EVT_blackout_start, 5}, {200, FTrace_EVT_blackout_end, 5, 77}});
  EXPECT_EQ(chunk.cpu, 3u);
  EXPECT_TRUE(chunk.frame.empty());
  EXPECT_EQ(records_of(chunk), (Records{{FTrace_EVT_cycles_per_msec, 0, 100, 1'000'000},
                                        {FTrace_EXT_format, FTRACE_EXT_VERSION, 100, 0},
                                        {FTrace_EXT_chunk, 3, 100, 9},
                                        {FTrace_EVT_numevents, 0, 100, 7},
                                        {FTrace_EVT_blackout_start, 5, 100, 0},
                                        {FTrace_EVT_blackout_end, 5, 200, 77},
                                        {FTrace_EVT_next_chunk, 0, 200, 10}}));
}

TEST(SmallChunk, IsTheLastIfItEndsTheTrace) {
  EXPECT_EQ(records_of(small_chunk(
                8191, 0, {{100, FTrace_EXT_mark, 1}, {UINT64_MAX - 1, FTrace_EVT_trace_stop}})),
            (Records{{FTrace_EVT_cycles_per_msec, 0, 100, 1'000'000},
                     {FTrace_EXT_format, FTRACE_EXT_VERSION, 100, 0},
                     {FTrace_EXT_chunk, 8191, 100, 0},
                     {FTrace_EVT_numevents, 0, 100, 6},
                     {FTrace_EXT_mark, 1, 100, 0},
                     {FTrace_EVT_trace_stop, 0, UINT64_MAX - 1, 0}}));
}

TEST(GapChunk, IsABlackoutWithTheStatesInItAndTheBlackoutsThatGoOn) {
  const Gap gap = {.cpu = 2, .number = 4, .begin = 50, .end = 90, .events = 1234};
  const std::vector<SmallEvent> states = {{60, FTrace_EVT_id, 1, 11}, {70, FTrace_EXT_state, 1, 2}};
  EXPECT_EQ(records_of(gap_chunk(gap, states, {FTRACE_BLACKOUT_FAMILIES, FTRACE_BLACKOUT_PAUSED})),
            (Records{{FTrace_EVT_cycles_per_msec, 0, 50, 1'000'000},
                     {FTrace_EXT_format, FTRACE_EXT_VERSION, 50, 0},
                     {FTrace_EXT_chunk, 2, 50, 4},
                     {FTrace_EVT_numevents, 0, 50, 11},
                     {FTrace_EVT_blackout_start, FTRACE_BLACKOUT_FORGOTTEN, 50, 0},
                     {FTrace_EVT_id, 1, 60, 11},
                     {FTrace_EXT_state, 1, 70, 2},
                     {FTrace_EVT_blackout_end, FTRACE_BLACKOUT_FORGOTTEN, 90, 1234},
                     {FTrace_EVT_blackout_start, FTRACE_BLACKOUT_FAMILIES, 90, 0},
                     {FTrace_EVT_blackout_start, FTRACE_BLACKOUT_PAUSED, 90, 0},
                     {FTrace_EVT_next_chunk, 0, 90, 5}}));
}

TEST(GapChunk, CountsAsManyEventsAsARecordCanHave) {
  const Chunk chunk = gap_chunk({.events = uint64_t(1) << 32}, {}, {});
  EXPECT_EQ(chunk.records.at(5).par2, UINT32_MAX);
}

TEST(WithoutStart, OnlyTheStartOfTheTraceIsLeftOut) {
  const Chunk chunk = small_chunk(
      3, 9, {{100, FTrace_EXT_mark, 1}, {110, FTrace_EVT_trace_start, 0, 5}, {120, 0x31, 2, 6}});
  Records expected = records_of(chunk);
  std::get<0>(expected.at(5)) = FTrace_EVT_empty;
  const Chunk copy = without_start(chunk);
  EXPECT_EQ(copy.cpu, 3u);
  EXPECT_EQ(records_of(copy), expected);
}

} // namespace
} // namespace ovnitrace
