// SPDX-License-Identifier: BSD-2-Clause
#include "user/chunk/chunk_queue.h"

#include "user/record/service_thread.h"

namespace ovnitrace {

ChunkQueue::ChunkQueue(ChunkOutput &output, size_t chunks, size_t chunk_records) : output_(output) {
  for (size_t n = 0; n < chunks; n++) {
    chunks_.push_back(std::make_unique<Chunk>());
    chunks_.back()->records.reserve(chunk_records);
    free_.push_back(chunks_.back().get());
  }
  thread_ = std::thread([this] { run(); });
}

ChunkQueue::~ChunkQueue() {
  close();
}

Chunk *ChunkQueue::borrow(uint32_t cpu) {
  std::unique_lock lock(mutex_);
  returned_.wait(lock, [this] { return !free_.empty(); });
  Chunk *chunk = free_.back();
  free_.pop_back();
  chunk->cpu = cpu;
  chunk->records.clear();
  return chunk;
}

void ChunkQueue::give(Chunk *chunk) {
  std::lock_guard lock(mutex_);
  full_.push_back(chunk);
  given_.notify_one();
}

void ChunkQueue::close() {
  if (!thread_.joinable())
    return;
  {
    std::lock_guard lock(mutex_);
    closing_ = true;
    given_.notify_one();
  }
  thread_.join();
  output_.finish();
}

void ChunkQueue::run() {
  enter_service_thread();
  std::unique_lock lock(mutex_);
  for (;;) {
    given_.wait(lock, [this] { return !full_.empty() || closing_; });
    if (full_.empty())
      return;
    Chunk *chunk = full_.front();
    full_.pop_front();
    lock.unlock();
    records_dropped_ += output_.write(*chunk);
    lock.lock();
    free_.push_back(chunk);
    returned_.notify_one();
  }
}

} // namespace ovnitrace
