// SPDX-License-Identifier: BSD-2-Clause
// What one look through a S.Ha.R.K. file finds: where its events are in order, and its clock.
#pragma once

#include <ovnitrace/ftrace_record.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ovnitrace::shark {

/// Records that stand one after another in order of time. A chunk that was never full is one run;
/// a cyclic one, which is saved in memory order, is two: the newer events stand first.
struct Run {
  uint64_t begin = 0; ///< byte offset of its first record
  uint64_t end = 0;   ///< and after its last one
  uint64_t first = 0; ///< ticks of its first record
  uint32_t file = 0;  ///< in which of several files it is
};

/// Memory depends on the number of runs, never on that of events.
struct RunIndex {
  /// Beyond so many, what is out of order stays in its run: a file of noise is no reason to keep
  /// an entry for each record.
  static constexpr size_t kMaxRuns = 1 << 18;

  std::vector<Run> runs;              ///< by first, then place in the file
  std::array<uint64_t, 256> counts{}; ///< records by code; 0 is empty
  bool has_chunks = false;            ///< ovnitrace wrote it: it is one of a trace directory
  uint64_t records = 0;               ///< of a known code
  uint64_t unknown = 0;               ///< of none, which are left out
  uint64_t first_unknown = 0;         ///< byte offset of the first of them
  uint16_t first_unknown_code = 0;    ///< its code, as in the file
  uint64_t first = 0;                 ///< ticks of the earliest event
  uint64_t last = 0;                  ///< and of the latest
  uint32_t rate = 0;                  ///< ticks per ms, 0: never given
  uint32_t other_rate = 0;            ///< a second one that was given, 0: none
  uint64_t other_rate_offset = 0;     ///< byte offset of the record that gave it
  uint64_t read = 0;                  ///< bytes that were looked through
  unsigned tail = 0;                  ///< bytes at the end that are no whole record
  int error = 0;                      ///< errno of a read that failed
};

/// Looks once through the first `size` bytes of `fd`. The rate is that of the first
/// cycles_per_msec, or else of the first trace_start, which S.Ha.R.K. logs as
/// (context, clk_per_msec); it counts wherever in the file it stands.
RunIndex make_run_index(int fd, uint64_t size);

/// What several files of one tracer say together, whose ticks are those of one clock; the runs
/// know their file. The rate is the first that a cycles_per_msec of them gives, or else the first.
RunIndex join(const std::vector<const RunIndex *> &files);

/// Whether a record is read at all: its code is the manual's, and not that of an empty slot.
bool is_read(const ftrace_record &record);

} // namespace ovnitrace::shark
