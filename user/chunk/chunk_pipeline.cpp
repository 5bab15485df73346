// SPDX-License-Identifier: BSD-2-Clause
#include "user/chunk/chunk_pipeline.h"

#include "user/chunk/service_thread.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace ovnitrace {

namespace {

/// Leaves `frame` empty if there is no memory for it: the output will report that.
void make_frame(const Chunk &chunk, FrameCompressor &compressor, std::vector<char> &frame) {
  frame.clear();
  try {
    const std::span<const char> made = compressor.compress_chunk(chunk.records);
    frame.assign(made.begin(), made.end());
  } catch (const std::exception &) {
    frame.clear();
  }
}

} // namespace

ChunkPipeline::ChunkPipeline(ChunkDestination &output, const PipelineCompression &compression,
                             Done done)
    : output_(output), compression_(compression), done_(std::move(done)) {
  if (compression.level)
    store_.emplace(kStoredLevel);
  writer_ = std::thread([this] { write_all(); });
  try {
    if (compression.level)
      compressor_ = std::thread([this] { compress_all(); });
  } catch (...) {
    close(); // ends the writer
    throw;
  }
}

ChunkPipeline::~ChunkPipeline() {
  close();
}

void ChunkPipeline::add(Chunk *chunk) {
  std::lock_guard lock(mutex_);
  const Item::State state = compression_.level ? Item::kWaits : Item::kReady;
  items_.push_back({chunk, Clock::now(), state});
  changed_.notify_one();
  added_.notify_one();
}

void ChunkPipeline::close() {
  if (!writer_.joinable())
    return;
  {
    Lock lock(mutex_);
    closing_ = true;
    changed_.notify_one();
    added_.notify_one();
    if (compression_.level) {
      Compressor compressor(compression_.level);
      while (compress_first(lock, compressor)) {
      }
    }
  }
  writer_.join();
  if (compressor_.joinable())
    compressor_.join();
  output_.finish();
}

void ChunkPipeline::write_all() {
  enter_service_thread();
  Lock lock(mutex_);
  while (wait_for_first(lock))
    write_first(lock);
}

void ChunkPipeline::compress_all() {
  enter_background_thread();
  Compressor compressor(compression_.level);
  Lock lock(mutex_);
  while (compress_first(lock, compressor) || !closing_)
    added_.wait(lock, [this] { return closing_ || is_any_waiting(); });
}

/// Returns whether a chunk waits for a compressor. Chunks are compressed in order.
bool ChunkPipeline::is_any_waiting() const {
  return !items_.empty() && items_.back().state == Item::kWaits;
}

/// Waits until the first chunk can be written. Returns false if no more chunks come.
bool ChunkPipeline::wait_for_first(Lock &lock) {
  for (;;) {
    if (items_.empty()) {
      if (closing_)
        return false;
      changed_.wait(lock);
      continue;
    }
    const Item &first = items_.front();
    const Clock::time_point latest = first.since + compression_.patience;
    const bool are_too_many = !closing_ && items_.size() > compression_.waits;
    if (first.state == Item::kReady || are_too_many || Clock::now() >= latest)
      return true;
    changed_.wait_until(lock, latest);
  }
}

void ChunkPipeline::write_first(Lock &lock) {
  const Items::iterator item = items_.begin();
  const bool is_ready = item->state == Item::kReady;
  if (item->state == Item::kIsCompressed)
    item->state = Item::kIsLeft;
  taken_.splice(taken_.end(), items_, item);
  lock.unlock();
  if (!is_ready) {
    make_frame(*item->chunk, store_->frames, store_->frame);
    std::swap(item->chunk->frame, store_->frame);
  }
  item->missing = output_.write(*item->chunk);
  if (!is_ready) // it is as large as the chunk: the chunk does not keep its memory
    std::swap(item->chunk->frame, store_->frame);
  lock.lock();
  if (item->state == Item::kIsLeft)
    item->state = Item::kIsWritten; // who still compresses it ends it
  else
    end(lock, item);
}

/// Compresses the first chunk that waits. Returns false if no chunk waits.
bool ChunkPipeline::compress_first(Lock &lock, Compressor &compressor) {
  const Items::iterator item = std::find_if(items_.begin(), items_.end(), [](const Item &waiting) {
    return waiting.state == Item::kWaits;
  });
  if (item == items_.end())
    return false;
  item->state = Item::kIsCompressed;
  lock.unlock();
  make_frame(*item->chunk, compressor.frames, compressor.frame);
  lock.lock();
  if (item->state == Item::kIsWritten) {
    end(lock, item);
    return true;
  }
  if (item->state == Item::kIsCompressed)
    std::swap(item->chunk->frame, compressor.frame);
  item->state = Item::kReady;
  changed_.notify_one();
  return true;
}

/// Ends an item whose chunk nobody uses any more.
void ChunkPipeline::end(Lock &lock, Items::iterator item) {
  const Item done = *item;
  taken_.erase(item);
  done.chunk->frame.clear();
  lock.unlock();
  done_(done.chunk, done.missing);
  lock.lock();
}

} // namespace ovnitrace
