// SPDX-License-Identifier: BSD-2-Clause
// Where chunks stay: files, or another machine.
#pragma once

#include "emulator/format/chunk_frame.h"
#include "user/chunk/chunk_sink.h"

#include <cstddef>
#include <span>
#include <string>

namespace ovnitrace {

/// Takes the chunks of a capture one by one, those of a CPU in their order. For one thread at a
/// time. After the first failure it takes nothing more; what it took before stays readable.
class ChunkOutput {
public:
  virtual ~ChunkOutput() = default;
  /// Takes as much of a chunk as it can. How many of its records it did not take: 0 if all is well.
  virtual size_t write(const Chunk &chunk) = 0;
  /// No chunk follows.
  virtual void finish() = 0;
  /// What failed first; empty: nothing.
  virtual std::string error() const = 0;
};

/// What an output that compresses takes of a chunk: the frame that it comes with, or else one of
/// `compressor`, valid until its next call. Throws Error if there is no memory.
inline std::span<const char> frame_to_write(const Chunk &chunk, FrameCompressor &compressor) {
  return chunk.frame.empty() ? compressor.compress_chunk(chunk.records) : std::span(chunk.frame);
}

} // namespace ovnitrace
