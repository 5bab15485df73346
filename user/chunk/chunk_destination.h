// SPDX-License-Identifier: BSD-2-Clause
// Stores the chunks of a capture for good: in files, or on another machine.
#pragma once

#include "emulator/format/chunk_frame.h"
#include "user/chunk/chunk_pool.h"

#include <cstddef>
#include <span>
#include <string>

namespace ovnitrace {

/// The chunks of one CPU come in time order. For one thread at a time. After the first failure it
/// takes no more chunks; those that it took before stay readable.
class ChunkDestination {
public:
  virtual ~ChunkDestination() = default;
  /// Takes as many records of a chunk as it can. Returns how many it did not take: 0 if all is
  /// well.
  virtual size_t write(const Chunk &chunk) = 0;
  /// Ends the capture: no chunk follows.
  virtual void finish() = 0;
  /// Returns what failed first, or an empty text.
  virtual std::string error() const = 0;
};

/// Returns the zstd frame of a chunk: the one that it carries, or a new one, which is valid until
/// the next call of `compressor`. Throws Error if there is no memory.
inline std::span<const char> frame_to_write(const Chunk &chunk, FrameCompressor &compressor) {
  return chunk.frame.empty() ? compressor.compress_chunk(chunk.records) : std::span(chunk.frame);
}

} // namespace ovnitrace
