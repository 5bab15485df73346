// SPDX-License-Identifier: BSD-2-Clause
// Where full chunks go.
#pragma once

#include "user/chunk/event_count.h"

#include <ovnitrace/ftrace_record.h>

#include <cstdint>
#include <string>
#include <vector>

namespace ovnitrace {

/// One chunk on its way: records of one CPU.
struct Chunk {
  uint32_t cpu = 0;
  std::vector<ftrace_record> records; ///< capacity is reserved once and never grows
  std::vector<char> frame = {};       ///< the records as a zstd frame; empty: not made yet
};

/// Lends empty chunks and takes full ones. Bounds the memory of a capture: when every chunk is
/// lent, borrow() waits, the rings fill, and what finds no room there is counted as lost.
class ChunkSink {
public:
  virtual ~ChunkSink() = default;
  virtual Chunk *borrow(uint32_t cpu) = 0;
  virtual void give(Chunk *chunk) = 0;
};

/// A sink that ends: what keeps the chunks of a capture.
class ChunkStore : public ChunkSink {
public:
  /// Brings all that was given to where it stays. Nothing may follow.
  virtual void close() = 0;
  // After close():
  virtual std::string error() const = 0;        ///< why something is missing; empty: nothing is
  virtual uint64_t records_dropped() const = 0; ///< that were given and could not be kept
  /// What was dropped before the output: blackouts stand in its place.
  virtual EventLoss dropped() const { return {}; }
};

} // namespace ovnitrace
