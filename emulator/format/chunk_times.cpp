// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/format/chunk_times.h"

#include "emulator/format/chunk_header.h"

#include <algorithm>

namespace ovnitrace {

namespace {

constexpr size_t kFormat = 1; ///< place of EXT_format in a chunk

void set_tsc(ftrace_record &record, uint64_t tsc) {
  record.tsc_high = uint32_t(tsc >> 32);
  record.tsc_low = uint32_t(tsc);
}

bool ends(const ftrace_record &record) {
  return record.code == FTrace_EVT_next_chunk || record.code == FTrace_EVT_trace_stop;
}

constexpr uint16_t kVersionOfDifferences = 3; ///< of the extensions: the first that allows them

/// Returns whether `chunk` is one whole chunk with times, in which no record before the last one
/// makes TimeRestorer stop.
bool is_whole_chunk(std::span<const ftrace_record> chunk) {
  return ChunkHeader::starts(chunk) && chunk[kFormat].par1 >= kVersionOfDifferences &&
         chunk[kFormat].par2 == 0 && ends(chunk.back()) &&
         std::none_of(chunk.begin() + kFormat + 1, chunk.end() - 1,
                      [](const ftrace_record &record) {
                        return record.code == FTrace_EXT_format || ends(record);
                      });
}

} // namespace

bool make_differences(std::span<ftrace_record> chunk) {
  if (!is_whole_chunk(chunk))
    return false;
  chunk[kFormat].par2 = FTRACE_FORMAT_DIFFERENCES;
  uint64_t last = ftrace_record_tsc(&chunk[kFormat]);
  for (ftrace_record &record : chunk.subspan(kFormat + 1)) {
    const uint64_t tsc = ftrace_record_tsc(&record);
    set_tsc(record, tsc - last);
    last = tsc;
  }
  return true;
}

void TimeRestorer::restore(std::span<ftrace_record> records) {
  for (ftrace_record &record : records) {
    if (record.code == FTrace_EXT_format) [[unlikely]] {
      active_ = record.par2 & FTRACE_FORMAT_DIFFERENCES;
      record.par2 &= ~FTRACE_FORMAT_DIFFERENCES;
      last_tsc_ = ftrace_record_tsc(&record);
    } else if (active_) {
      set_tsc(record, last_tsc_ += ftrace_record_tsc(&record));
      active_ = !ends(record);
    }
  }
}

} // namespace ovnitrace
