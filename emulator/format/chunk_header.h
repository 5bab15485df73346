// SPDX-License-Identifier: BSD-2-Clause
// Writes and reads the first records of a chunk, which describe it (docs/format.md).
#pragma once

#include <ovnitrace/ftrace_codes.h>
#include <ovnitrace/ftrace_record.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace ovnitrace {

/// The most CPUs of a host: NR_CPUS of the largest Linux.
inline constexpr uint32_t kMostCpus = 8192;

/// The start of each chunk of a capture: cycles_per_msec, EXT_format, EXT_chunk and numevents, all
/// with the time at which the chunk starts.
struct ChunkHeader {
  uint16_t cpu = 0;
  uint32_t number = 0;  ///< of the chunk in its file, from 0
  uint64_t time = 0;    ///< ns
  uint32_t records = 0; ///< of the whole chunk, header included; 0: not known

  static constexpr size_t kRecords = 4; ///< of the header

  std::array<ftrace_record, kRecords> encode() const {
    constexpr uint32_t kTicksPerMs = 1'000'000; // ns
    std::array<ftrace_record, kRecords> all;
    ftrace_record_set(&all[0], FTrace_EVT_cycles_per_msec, 0, time, kTicksPerMs);
    ftrace_record_set(&all[1], FTrace_EXT_format, FTRACE_EXT_VERSION, time, 0);
    ftrace_record_set(&all[2], FTrace_EXT_chunk, cpu, time, number);
    ftrace_record_set(&all[3], FTrace_EVT_numevents, 0, time, records);
    return all;
  }

  /// Reads the header of a chunk. REQUIRES: starts(chunk).
  static ChunkHeader decode(std::span<const ftrace_record> chunk) {
    return {.cpu = chunk[2].par1,
            .number = chunk[2].par2,
            .time = ftrace_record_tsc(&chunk[0]),
            .records = chunk[3].par2};
  }

  /// Returns whether the chunk starts with a whole header.
  static bool starts(std::span<const ftrace_record> chunk) {
    return chunk.size() >= kRecords && starts(chunk[0].code, chunk[1].code) &&
           chunk[2].code == FTrace_EXT_chunk && chunk[3].code == FTrace_EVT_numevents;
  }
  /// Returns whether two successive codes can be the start of a header. For searches among records.
  static constexpr bool starts(uint16_t code, uint16_t next) {
    return code == FTrace_EVT_cycles_per_msec && next == FTrace_EXT_format;
  }

  static void set_place(std::span<ftrace_record> chunk, uint16_t cpu, uint32_t number) {
    chunk[2].par1 = cpu;
    chunk[2].par2 = number;
  }
  static void set_records(std::span<ftrace_record> chunk, uint32_t records) {
    chunk[3].par2 = records;
  }
};

} // namespace ovnitrace
