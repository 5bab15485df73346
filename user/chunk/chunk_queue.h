// SPDX-License-Identifier: BSD-2-Clause
// Chunks to an output, by threads of their own.
#pragma once

#include "user/chunk/chunk_line.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace ovnitrace {

/// Linked chunks (JTN): a fixed number of them goes round between the CPUs that fill them and the
/// output that empties them. What the output does not take is counted.
class ChunkQueue final : public ChunkStore {
public:
  /// `output` outlives it. Memory: at most `chunks` × `chunk_records` × 16 bytes, taken when they
  /// are needed, and what they are compressed to.
  ChunkQueue(ChunkOutput &output, size_t chunks, size_t chunk_records,
             const LineCompression &compression = {});

  Chunk *borrow(uint32_t cpu) override;
  void give(Chunk *chunk) override;
  /// Writes what was given and ends the threads.
  void close() override { line_.close(); }
  std::string error() const override { return output_.error(); }
  uint64_t records_dropped() const override { return records_dropped_; }

private:
  void add_chunk();
  void take_back(Chunk *chunk, size_t missing);

  ChunkOutput &output_;
  const size_t most_chunks_, chunk_records_;
  std::vector<std::unique_ptr<Chunk>> chunks_;
  std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<Chunk *> free_;
  size_t under_way_ = 0; ///< chunks in the line
  uint64_t records_dropped_ = 0;
  ChunkLine line_; ///< last: its threads use the others
};

} // namespace ovnitrace
