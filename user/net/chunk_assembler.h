// SPDX-License-Identifier: BSD-2-Clause
// Assembles the chunks of one CPU from datagrams, some of which may be missing.
#pragma once

#include "user/net/trace_sink.h"

#include <ovnitrace/ftrace_record.h>

#include <cstdint>
#include <span>

namespace ovnitrace {

/// Writes a chunk file as docs/format.md has it. If nothing is missing, it is byte for byte the
/// sender's own file. A chunk ends where a datagram of it is missing. Its other events, and those
/// of chunks that did not come, become a blackout with their number, in a chunk of its own.
class ChunkAssembler {
public:
  /// `sink` outlives it.
  ChunkAssembler(uint16_t cpu, TraceSink &sink) : cpu_(cpu), sink_(sink) {}

  /// Adds records of the chunk with this number, in the order in which they were sent. Returns
  /// false, and does nothing, if `events_before` cannot be. Throws what the sink throws.
  ///
  /// `events_before`: events of this CPU that were sent before them. `first_time` (ns): no known
  /// event of the trace is older. `datagrams_lost`: of all CPUs, so far.
  bool take(uint32_t chunk, uint64_t events_before, std::span<const ftrace_record> records,
            uint64_t first_time, uint64_t datagrams_lost);
  /// Ends the file: the capture ended at `time` (ns), with so many events of this CPU.
  void end(uint64_t events, uint64_t time, uint64_t first_time);
  /// Ends the file when nothing more comes, and it is not known what was sent.
  void cut() {
    if (size_)
      add_small_chunk(last_time_, last_time_, false);
  }

  uint64_t events() const { return events_; } ///< of the sender's, in the file or lost
  uint64_t events_lost() const { return events_lost_; }

private:
  void lose(uint64_t events);
  void put(std::span<const ftrace_record> records);
  void close_chunk();
  void add_small_chunk(uint64_t time, uint64_t first_time, bool stop);

  const uint16_t cpu_;
  TraceSink &sink_;
  uint64_t size_ = 0;           ///< bytes of the file
  uint32_t number_ = 0;         ///< of the next chunk in the file
  bool open_ = false;           ///< the last chunk in the file goes on
  bool stopped_ = false;        ///< trace_stop is written
  uint64_t datagrams_lost_ = 0; ///< when it took the last
  uint32_t chunk_ = 0;          ///< number of the open chunk, as the sender has it
  uint64_t chunk_begin_ = 0;    ///< byte in the file
  uint64_t events_ = 0;         ///< of the sender's, until now: in the file or lost
  uint64_t last_time_ = 0;      ///< ns
  uint64_t pending_ = 0;        ///< events lost since the last that is in the file
  uint64_t events_lost_ = 0;
};

} // namespace ovnitrace
