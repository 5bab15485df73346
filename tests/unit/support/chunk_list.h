// SPDX-License-Identifier: BSD-2-Clause
// A sink that keeps every chunk, for tests of what writes them.
#pragma once

#include "user/chunk/chunk_pool.h"

#include <memory>
#include <vector>

namespace ovnitrace::test {

class ChunkList : public ChunkPool {
public:
  explicit ChunkList(size_t chunk_records) : chunk_records_(chunk_records) {}

  Chunk *borrow(uint32_t cpu) override {
    lent_ = std::make_unique<Chunk>();
    lent_->cpu = cpu;
    lent_->records.reserve(chunk_records_);
    return lent_.get();
  }
  void give(Chunk *) override { chunks.push_back(std::move(*lent_)); }

  std::vector<Chunk> chunks; ///< in the order in which they were given

  /// Whether a chunk grew beyond what it had room for.
  bool grew() const {
    for (const Chunk &chunk : chunks)
      if (chunk.records.capacity() != chunk_records_)
        return true;
    return false;
  }

private:
  size_t chunk_records_;
  std::unique_ptr<Chunk> lent_;
};

} // namespace ovnitrace::test
