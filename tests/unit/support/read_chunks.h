// SPDX-License-Identifier: BSD-2-Clause
// A small reader of chunks, written from docs/format.md alone.
#pragma once

#include "tests/unit/support/chunk_list.h"

#include <ovnitrace/ftrace_codes.h>
#include <ovnitrace/ftrace_record.h>

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <vector>

namespace ovnitrace::test {

/// A record without what is only so in its file.
struct Plain {
  uint16_t code;
  uint32_t tid; ///< 0: about no thread
  uint64_t time;
  uint32_t par2;
  bool operator==(const Plain &) const = default;
};

inline bool is_about_thread(uint16_t code) {
  return (code & 0xf) == 2 || (code & 0xf) == 0xc;
}

/// The two events of an EXT_switch, as docs/format.md has it; `tids`: by context.
inline void expand_switch(const ftrace_record &r, const std::map<uint16_t, uint32_t> &tids,
                          std::vector<Plain> &events) {
  const uint64_t time = ftrace_record_tsc(&r);
  const uint32_t reason = r.par2 >> 24 & 0xf, next = tids.at(uint16_t(r.par2));
  const bool runnable = reason == 0 || reason == 1 || reason == 9;
  const uint32_t call = runnable ? 0 : r.par2 & 0xf0000000;
  EXPECT_EQ(r.par2 & 0xf0000000, call) << "a call of a thread that is not blocked";
  const uint16_t code = runnable ? FTrace_EVT_task_epilogue : FTrace_EVT_task_sleep;
  events.push_back({uint16_t(code | (r.code & 0x7f00)), tids.at(r.par1), time,
                    next | reason << FTRACE_REASON_SHIFT | call});
  events.push_back({FTrace_EVT_task_dispatch, next, time, r.par2 >> 16 & 0xff});
}

/// Reads a chunk with nothing but itself; checks all that the format promises of one.
inline std::vector<Plain> read_alone(const Chunk &chunk, uint32_t number, bool last) {
  const std::vector<ftrace_record> &r = chunk.records;
  EXPECT_GE(r.size(), 5u);
  EXPECT_EQ(r[0].code, FTrace_EVT_cycles_per_msec);
  EXPECT_EQ(r[0].par2, 1'000'000u);
  EXPECT_EQ(r[1].code, FTrace_EXT_format);
  EXPECT_EQ(r[1].par1, FTRACE_EXT_VERSION);
  EXPECT_EQ(r[2].code, FTrace_EXT_chunk);
  EXPECT_EQ(r[2].par1, chunk.cpu);
  EXPECT_EQ(r[2].par2, number);
  EXPECT_EQ(r[3].code, FTrace_EVT_numevents);
  EXPECT_EQ(r[3].par2, r.size());
  EXPECT_EQ(r.back().code, last ? FTrace_EVT_trace_stop : FTrace_EVT_next_chunk);
  EXPECT_EQ(r.back().par2, last ? 0 : number + 1);

  std::vector<Plain> events;
  std::map<uint16_t, uint32_t> tids; // by context
  uint64_t time = 0;
  for (size_t n = 4; n + 1 < r.size(); n++) {
    const bool birth = r[n].code == FTrace_EXT_process || r[n].code == FTrace_EXT_parent;
    if (!birth) {
      EXPECT_GE(ftrace_record_tsc(&r[n]), time) << "the time goes back";
      time = ftrace_record_tsc(&r[n]);
    }
    if (r[n].code == FTrace_EVT_id) {
      EXPECT_FALSE(tids.contains(r[n].par1)) << "a context is given twice";
      EXPECT_NE(r[n].par1, 0) << "context 0 is no thread";
      tids[r[n].par1] = r[n].par2;
    } else if (is_about_thread(r[n].code)) {
      EXPECT_TRUE(tids.contains(r[n].par1)) << "a context before its id";
    }
    if ((r[n].code & 0xff) == FTrace_EXT_switch)
      expand_switch(r[n], tids, events);
    else if (r[n].code != FTrace_EVT_id && (r[n].code & 0xf) != 0xc)
      events.push_back({r[n].code, is_about_thread(r[n].code) ? tids[r[n].par1] : 0,
                        ftrace_record_tsc(&r[n]), r[n].par2});
  }
  return events;
}

/// Reads all chunks of one CPU, each alone.
inline std::vector<Plain> read_all(const ChunkList &list) {
  std::vector<Plain> all;
  for (uint32_t n = 0; n < list.chunks.size(); n++) {
    const auto events = read_alone(list.chunks[n], n, n + 1 == list.chunks.size());
    all.insert(all.end(), events.begin(), events.end());
  }
  EXPECT_FALSE(list.grew()) << "a chunk was too small for what one call wrote";
  return all;
}

} // namespace ovnitrace::test
