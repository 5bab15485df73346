// SPDX-License-Identifier: BSD-2-Clause
// Scans a S.Ha.R.K. file: where its events are in order, and its clock.
#pragma once

#include <ovnitrace/ftrace_record.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ovnitrace::shark {

/// Successive records in order of time. A chunk that was never full is one run. A cyclic chunk,
/// which is saved in memory order, is two runs, the newer one first.
struct Run {
  uint64_t begin = 0; ///< byte offset of its first record
  uint64_t end = 0;   ///< end of its last one
  uint64_t first = 0; ///< ticks of its first record
  uint32_t file = 0;  ///< index of its file, if there are several
};

/// The result of a scan. Memory grows with the number of runs, not of events.
struct RunIndex {
  /// The most runs. Beyond, records out of order stay in their run: a file of noise must not cost
  /// an entry for each record.
  static constexpr size_t kMaxRuns = 1 << 18;

  std::vector<Run> runs;              ///< by first, then place in the file
  std::array<uint64_t, 256> counts{}; ///< records by code; 0 is empty
  bool has_chunks = false;            ///< ovnitrace wrote it as a part of a trace directory
  uint64_t records = 0;               ///< of known codes
  uint64_t unknown = 0;               ///< of unknown codes, which are left out
  uint64_t first_unknown = 0;         ///< byte offset of the first of them
  uint16_t first_unknown_code = 0;    ///< its code, as in the file
  uint64_t first = 0;                 ///< ticks of the earliest event
  uint64_t last = 0;                  ///< and of the latest
  uint32_t rate = 0;                  ///< ticks per ms, 0: never given
  uint32_t other_rate = 0;            ///< a second one that was given, 0: no other
  uint64_t other_rate_offset = 0;     ///< byte offset of the record that gave it
  uint64_t read = 0;                  ///< bytes scanned
  unsigned tail = 0;                  ///< bytes of an incomplete record at the end
  int error = 0;                      ///< errno of a failed read
};

/// Scans the first `size` bytes of `fd`. The rate is that of the first cycles_per_msec, or else of
/// the first trace_start, which S.Ha.R.K. logs as (context, clk_per_msec). It applies to the whole
/// file.
RunIndex make_run_index(int fd, uint64_t size);

/// Joins the indices of several files of one tracer, whose ticks are of one clock. Runs know their
/// file. The rate is the first one from a cycles_per_msec, or else the first one.
RunIndex join(const std::vector<const RunIndex *> &files);

/// Returns whether a record is read: its code is in the manual, and it is not an empty slot.
bool is_read(const ftrace_record &record);

} // namespace ovnitrace::shark
