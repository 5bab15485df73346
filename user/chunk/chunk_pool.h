// SPDX-License-Identifier: BSD-2-Clause
// Lends empty chunks to the reader of the rings and takes them back full.
#pragma once

#include "user/chunk/event_count.h"

#include <ovnitrace/ftrace_record.h>

#include <cstdint>
#include <string>
#include <vector>

namespace ovnitrace {

/// A number of FTrace records of one CPU. The unit that is compressed, written and sent.
struct Chunk {
  uint32_t cpu = 0;
  std::vector<ftrace_record> records; ///< capacity is reserved once and never grows
  std::vector<char> frame = {};       ///< the records as a zstd frame; empty: not made yet
};

/// Bounds the memory of a capture. If all chunks are lent, borrow() waits. The kernel's rings fill
/// meanwhile, and events that find no room in them are counted as lost.
class ChunkPool {
public:
  virtual ~ChunkPool() = default;
  /// Returns an empty chunk for a CPU. The pool owns it; give() returns it.
  virtual Chunk *borrow(uint32_t cpu) = 0;
  /// Takes a chunk that borrow() returned, full or not.
  virtual void give(Chunk *chunk) = 0;
};

/// A pool that keeps the chunks of one capture, as --buffer says: until they are written
/// (LinkedChunks), or only the last ones (FlightRecorder).
class CaptureBuffer : public ChunkPool {
public:
  /// Writes what is kept to the destination. No call but the three below may follow.
  virtual void close() = 0;
  /// Returns what failed first, or an empty text.
  virtual std::string error() const = 0;
  /// Returns how many records were given but not written, because the destination failed.
  virtual uint64_t records_dropped() const = 0;
  /// Returns the events that were dropped for lack of room. A blackout replaces each run of them.
  virtual EventLoss dropped() const { return {}; }
};

} // namespace ovnitrace
