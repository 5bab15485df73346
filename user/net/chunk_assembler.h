// SPDX-License-Identifier: BSD-2-Clause
// Assembles the chunks of one CPU from datagrams, some of which may be missing.
#pragma once

#include "user/net/trace_sink.h"

#include <ovnitrace/ftrace_record.h>

#include <bitset>
#include <cstdint>
#include <span>
#include <string>

namespace ovnitrace {

/// Writes a chunk file as docs/format.md has it. If nothing is missing, it is byte for byte the
/// sender's own file. What is missing becomes a blackout, from the last event before to the next
/// one after, with the number of its events. An event of a thread whose introduction is missing
/// counts as missing, too.
class ChunkAssembler {
public:
  /// `sink` outlives it.
  ChunkAssembler(uint16_t cpu, TraceSink &sink) : cpu_(cpu), sink_(sink) {}

  /// Adds records of the chunk with this number, in their order. Returns false, and does nothing,
  /// if the records say what cannot be. Throws what the sink throws.
  ///
  /// `events_before`: events of this CPU that were sent before them. `first_time` (ns): no known
  /// event of the trace is older. `datagrams_lost`: of all CPUs, so far.
  bool take(uint32_t chunk, uint64_t events_before, std::span<const ftrace_record> records,
            uint64_t first_time, uint64_t datagrams_lost);
  /// Ends the file: the capture ended at `time` (ns), with so many events of this CPU.
  void end(uint64_t events, uint64_t time, uint64_t first_time);
  /// Ends the file when nothing more comes, and it is not known what was sent.
  void cut();

  uint64_t events() const { return events_; } ///< of the sender's, in the file or lost
  uint64_t events_lost() const { return events_lost_; }

private:
  void put(const ftrace_record &record);
  void put(uint16_t code, uint16_t par1, uint64_t time, uint32_t par2);
  void record(const ftrace_record &record);
  bool knows_thread(const ftrace_record &record) const;
  void lose(uint64_t events, uint64_t since);
  void add_loss(uint64_t time);
  void add_loss_between(uint64_t time, bool stop);
  void begin_chunk(uint32_t chunk, std::span<const ftrace_record> &records, uint64_t time);
  void end_chunk(const ftrace_record &last);
  void flush();

  static constexpr size_t kMostContexts = 8192; ///< more than ContextTable gives

  const uint16_t cpu_;
  TraceSink &sink_;
  std::string out_;                     ///< not given to the sink yet
  uint64_t size_ = 0;                   ///< bytes of the file, out_ included
  uint32_t number_ = 0;                 ///< of the next chunk in the file
  bool any_ = false;                    ///< something is in the file
  bool open_ = false;                   ///< a chunk is
  bool stopped_ = false;                ///< trace_stop is written
  bool damaged_ = false;                ///< something of the chunk may be missing
  uint64_t datagrams_lost_ = 0;         ///< when it took the last
  uint32_t chunk_ = 0;                  ///< number of the last chunk, as the sender has it
  uint64_t chunk_begin_ = 0;            ///< byte in the file
  uint32_t declared_records_ = 0;       ///< by its numevents
  std::bitset<kMostContexts> contexts_; ///< that the chunk bound to a thread
  uint64_t events_ = 0;                 ///< of the sender's, until now: in the file or lost
  uint64_t last_time_ = 0;              ///< ns
  uint64_t pending_ = 0;                ///< events lost since the last that is in the file
  uint64_t pending_since_ = 0;          ///< ns
  uint64_t events_lost_ = 0;
};

} // namespace ovnitrace
