// SPDX-License-Identifier: BSD-2-Clause
// Writes chunks to a disk. The reader waits if the disk is too slow.
#pragma once

#include "user/chunk/chunk_pipeline.h"
#include "user/chunk/inheriting_mutex.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace ovnitrace {

/// A fixed number of chunks circulates between the reader, which fills them, and a ChunkPipeline,
/// which writes them (S.Ha.R.K.: linked chunks, JTN). Counts records that the destination refuses.
class WaitingBuffer final : public CaptureBuffer {
public:
  /// `output` outlives it. Allocates at most `chunks` × `chunk_records` × 16 bytes, and room for
  /// the compressed form, when they are needed.
  WaitingBuffer(ChunkDestination &output, size_t chunks, size_t chunk_records,
                const PipelineCompression &compression = {});

  Chunk *borrow(uint32_t cpu) override;
  void give(Chunk *chunk) override;
  /// Writes what was given and ends the threads.
  void close() override { line_.close(); }
  std::string error() const override { return output_.error(); }
  uint64_t records_dropped() const override { return records_dropped_; }

private:
  void add_chunk();
  void take_back(Chunk *chunk, size_t missing);

  ChunkDestination &output_;
  const size_t most_chunks_, chunk_records_;
  std::vector<std::unique_ptr<Chunk>> chunks_;
  InheritingMutex mutex_;
  std::condition_variable returned_;
  std::vector<Chunk *> free_;
  size_t under_way_ = 0; ///< chunks in the line
  uint64_t records_dropped_ = 0;
  ChunkPipeline line_; ///< last: its threads use the others
};

} // namespace ovnitrace
