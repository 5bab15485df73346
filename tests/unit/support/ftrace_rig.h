// SPDX-License-Identifier: BSD-2-Clause
// For tests of libovnitrace: removes all chunks and filters and disables tracing after each test,
// and reads what a chunk holds through the disk writer.
#pragma once

#include "tests/unit/support/temp_dir.h"

#include <gtest/gtest.h>
#include <ovnitrace/ftrace.h>

#include <fstream>
#include <string>
#include <tuple>
#include <vector>

namespace ovnitrace::test {

inline constexpr int kEvent = 16;         ///< bytes of one
inline constexpr int kEmergency = 4 * 16; ///< bytes of an emergency area that is of no matter
inline constexpr int kFree = FTRACE_CHUNK_FLAG_FREE;

inline std::vector<ftrace_record> read_records(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<ftrace_record> records;
  for (ftrace_record record; file.read(reinterpret_cast<char *>(&record), sizeof record);)
    records.push_back(record);
  EXPECT_EQ(file.gcount(), 0) << path << " ends in a part of a record";
  return records;
}

/// What a record says apart from its time.
using Said = std::tuple<unsigned, unsigned, unsigned>; // code, par1, par2
inline Said said(const ftrace_record &r) {
  return {r.code, r.par1, r.par2};
}
inline std::vector<Said> said(const std::vector<ftrace_record> &records) {
  std::vector<Said> all;
  for (const ftrace_record &record : records)
    all.push_back(said(record));
  return all;
}

class FtraceRig : public testing::Test {
protected:
  ~FtraceRig() override { clear(); }

  static void clear() {
    FTrace_disable();
    for (unsigned filter = FTrace_filter_trace_Events; filter <= FTrace_filter_timer; filter++)
      FTrace_set_filter(FTrace_BYTE(filter), 0);
    for (int i = 0; i < FTRACE_MAX_CHUNK; i++) {
      FTrace_flags flags;
      if (FTrace_get_chunk_flags(i, &flags) != 0)
        continue;
      EXPECT_EQ(FTrace_set_chunk_flags(i, FTrace_flags(flags & ~FTRACE_CHUNK_FLAG_NODEL)), 0);
      EXPECT_EQ(FTrace_chunk_delete(i), 0);
    }
  }

  static int create(int events, int flags, int emergency = kEmergency) {
    return FTrace_chunk_create(events * kEvent, emergency, FTrace_flags(flags));
  }
  /// A chunk that is selected, with tracing enabled.
  static int start(int events, int mode, int emergency = kEmergency) {
    int chunk = create(events, kFree | mode, emergency);
    EXPECT_EQ(FTrace_actual_chunk_select(chunk), 0);
    EXPECT_EQ(FTrace_enable(), 0);
    return chunk;
  }
  static void log(unsigned par2) { TRACER_LOGEVENT(FTrace_EVT_user_event_0, 0, par2); }
  static Said user(unsigned par2) { return {FTrace_EVT_user_event_0, 0, par2}; }

  static int flags_of(int chunk) {
    FTrace_flags flags = 0;
    int error = FTrace_get_chunk_flags(chunk, &flags);
    return error ? error : flags;
  }
  static const FTrace_Chunk &status(int chunk) { return *FTrace_get_chunk_table()[chunk]; }

  /// All records of a chunk, without that of the clock. The chunk stays as it is.
  std::vector<ftrace_record> records_of(int chunk) {
    std::string path = dir_ / "chunk.dat";
    EXPECT_EQ(FTrace_init_disk_writer(path.data(), 0, nullptr, nullptr), 0);
    FTrace_disk_writer(FTrace_get_chunk_table()[chunk]);
    EXPECT_EQ(FTrace_last_error(), 0);
    auto records = read_records(path);
    if (!records.empty() && said(records[0]) == Said{FTrace_EVT_cycles_per_msec, 0, 1000000})
      records.erase(records.begin());
    return records;
  }
  std::vector<Said> said_in(int chunk) { return said(records_of(chunk)); }

  TempDir dir_;
};

} // namespace ovnitrace::test
