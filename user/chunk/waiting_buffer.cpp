// SPDX-License-Identifier: BSD-2-Clause
#include "user/chunk/waiting_buffer.h"

#include <new>
#include <utility>

namespace ovnitrace {

WaitingBuffer::WaitingBuffer(ChunkDestination &output, size_t chunks, size_t chunk_records,
                             const PipelineCompression &compression)
    : output_(output), most_chunks_(chunks), chunk_records_(chunk_records),
      line_(output, compression,
            [this](Chunk *chunk, size_t missing) { take_back(chunk, missing); }) {}

Chunk *WaitingBuffer::borrow(uint32_t cpu) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (free_.empty() && chunks_.size() < most_chunks_)
    add_chunk();
  returned_.wait(lock, [this] { return !free_.empty(); });
  Chunk *chunk = free_.back();
  free_.pop_back();
  chunk->cpu = cpu;
  chunk->records.clear();
  return chunk;
}

/// Adds a chunk. If memory is short, the chunks under way must suffice. Throws std::bad_alloc if no
/// chunk is under way.
void WaitingBuffer::add_chunk() {
  try {
    auto chunk = std::make_unique<Chunk>();
    chunk->records.reserve(chunk_records_);
    chunks_.push_back(std::move(chunk));
    free_.push_back(chunks_.back().get());
  } catch (const std::bad_alloc &) {
    if (under_way_ == 0)
      throw;
  }
}

void WaitingBuffer::give(Chunk *chunk) {
  {
    std::lock_guard lock(mutex_);
    under_way_++;
  }
  line_.add(chunk);
}

void WaitingBuffer::take_back(Chunk *chunk, size_t missing) {
  std::lock_guard lock(mutex_);
  records_dropped_ += missing;
  free_.push_back(chunk);
  under_way_--;
  returned_.notify_one();
}

} // namespace ovnitrace
