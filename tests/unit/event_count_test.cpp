// SPDX-License-Identifier: BSD-2-Clause
// How many events records stand for, and what is missing with them: user/chunk/event_count.
#include "user/chunk/event_count.h"

#include <ovnitrace/ftrace_codes.h>

#include <gtest/gtest.h>

#include <vector>

namespace ovnitrace {
namespace {

ftrace_record record_of(uint16_t code, uint16_t par1 = 0, uint32_t par2 = 0) {
  ftrace_record record;
  ftrace_record_set(&record, code, par1, 1000, par2);
  return record;
}

uint64_t events(uint16_t code, uint16_t par1 = 0, uint32_t par2 = 0) {
  return events_of(record_of(code, par1, par2));
}

TEST(EventCount, ARecordHasUpToThreeEvents) {
  EXPECT_EQ(events(FTrace_EVT_task_dispatch, 1, 121), 1u);
  EXPECT_EQ(events(FTrace_EVT_task_sleep | FTRACE_CALL_CODE(0x123), 1, FTRACE_CALL_PAR2(3)), 1u);
  EXPECT_EQ(events(FTrace_EXT_switch, 1, 2), 2u);
  EXPECT_EQ(events(FTrace_EXT_switch | FTRACE_CALL_CODE(0x123), 1, 2), 2u);
  EXPECT_EQ(events(FTrace_EXT_wake_switch, 1, 2), 3u);
}

TEST(EventCount, WhatDescribesTheTraceOrAnotherRecordIsNone) {
  for (const uint16_t code :
       {FTrace_EVT_trace_start, FTrace_EVT_trace_stop, FTrace_EVT_blackout_start,
        FTrace_EVT_next_chunk, FTrace_EVT_numevents, FTrace_EVT_empty})
    EXPECT_EQ(events(code, 0, 7), 0u) << code;
  for (const uint16_t code : {FTrace_EXT_chunk, FTrace_EXT_process, FTrace_EXT_name_0,
                              FTrace_EXT_state, FTrace_EXT_device})
    EXPECT_EQ(events(code, 1, 7), 0u) << code;
}

TEST(EventCount, TheEndOfABlackoutHasThoseThatWereLost) {
  EXPECT_EQ(events(FTrace_EVT_blackout_end, FTRACE_BLACKOUT_TRANSITIONS, 7), 7u);
  EXPECT_EQ(events(FTrace_EVT_blackout_end, FTRACE_BLACKOUT_FAMILIES, 0), 0u);
  EXPECT_EQ(events(FTrace_EVT_blackout_end, FTRACE_BLACKOUT_SOMEWHERE, 7), 0u)
      << "each CPU has the same one";
}

TEST(EventLoss, TellsWhatReadersCountFromWhatWasLoggedAndLost) {
  const std::vector<ftrace_record> missing = {
      record_of(FTrace_EVT_trace_start),
      record_of(FTrace_EXT_switch, 1, 2),
      record_of(FTrace_EXT_wake_switch, 1, 2),
      record_of(FTrace_EXT_chunk, 3, 4),
      record_of(FTrace_EVT_blackout_end, FTRACE_BLACKOUT_TRANSITIONS, 7),
      record_of(FTrace_EVT_blackout_end, FTRACE_BLACKOUT_FORGOTTEN, 100),
      record_of(FTrace_EVT_blackout_end, FTRACE_BLACKOUT_SOMEWHERE, 1000)};
  EventLoss loss;
  loss.add(missing);
  EXPECT_EQ(loss.records, 7u);
  EXPECT_EQ(loss.counted, 1 + 2 + 3 + 3u);
  EXPECT_EQ(loss.logged, 2 + 3u);
  EXPECT_EQ(loss.lost, 2 + 3 + 7u);
  loss.add(std::span(missing).subspan(1, 1));
  EventLoss sum;
  sum += loss;
  sum += loss;
  EXPECT_EQ(sum.records, 16u);
  EXPECT_EQ(sum.counted, 22u);
  EXPECT_EQ(sum.logged, 14u);
  EXPECT_EQ(sum.lost, 28u);
}

} // namespace
} // namespace ovnitrace
