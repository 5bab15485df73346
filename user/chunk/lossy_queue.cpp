// SPDX-License-Identifier: BSD-2-Clause
#include "user/chunk/lossy_queue.h"

#include "user/chunk/event_count.h"
#include "user/chunk/small_chunk.h"
#include "user/record/service_thread.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace ovnitrace {

namespace {

constexpr size_t kChunkAt = 2; ///< which record of a chunk is EXT_chunk

} // namespace

LossyQueue::LossyQueue(ChunkOutput &output, uint32_t cpus, size_t waiting, size_t chunk_records)
    : output_(output), waiting_(waiting), gaps_(cpus), shifts_(cpus) {
  for (size_t n = 0; n < cpus + waiting; n++) {
    chunks_.push_back(std::make_unique<Chunk>());
    chunks_.back()->records.reserve(chunk_records);
    free_.push_back(chunks_.back().get());
  }
  thread_ = std::thread([this] { run(); });
}

LossyQueue::~LossyQueue() {
  close();
}

/// At most `cpus` are lent and `waiting` under way, so there is one.
Chunk *LossyQueue::borrow(uint32_t cpu) {
  std::lock_guard lock(mutex_);
  Chunk *chunk = free_.back();
  free_.pop_back();
  chunk->cpu = cpu;
  chunk->records.clear();
  return chunk;
}

void LossyQueue::give(Chunk *chunk) {
  std::lock_guard lock(mutex_);
  if (under_way_ >= waiting_) {
    drop(*chunk);
    free_.push_back(chunk);
    return;
  }
  std::optional<Chunk> gap = take_gap(chunk->cpu);
  renumber(*chunk);
  full_.push_back({std::move(gap), chunk});
  under_way_++;
  given_.notify_one();
}

void LossyQueue::drop(const Chunk &chunk) {
  Gap &gap = gaps_[chunk.cpu];
  if (gap.chunks++ == 0) {
    gap.begin = ftrace_record_tsc(&chunk.records.front());
    gap.number = chunk.records[kChunkAt].par2 - shifts_[chunk.cpu];
  }
  gap.end = ftrace_record_tsc(&chunk.records.back());
  gap.last = chunk.records.back().code == FTrace_EVT_trace_stop;
  for (const ftrace_record &record : chunk.records) {
    gap.events += events_of(record);
    events_in_gaps_ += events_of(record);
  }
  records_dropped_ += chunk.records.size();
}

void LossyQueue::renumber(Chunk &chunk) const {
  const uint32_t shift = shifts_[chunk.cpu];
  chunk.records[kChunkAt].par2 -= shift;
  if (chunk.records.back().code == FTrace_EVT_next_chunk)
    chunk.records.back().par2 -= shift;
}

/// As a chunk of its own, with one number for all that it stands for.
std::optional<Chunk> LossyQueue::take_gap(uint32_t cpu) {
  const Gap gap = std::exchange(gaps_[cpu], {});
  if (!gap.chunks)
    return std::nullopt;
  shifts_[cpu] += gap.chunks - 1;
  std::vector<SmallEvent> events = {
      {gap.begin, FTrace_EVT_blackout_start},
      {gap.end, FTrace_EVT_blackout_end, 0, uint32_t(std::min<uint64_t>(gap.events, UINT32_MAX))}};
  if (gap.last)
    events.push_back({gap.end, FTrace_EVT_trace_stop});
  return small_chunk(cpu, gap.number, events);
}

void LossyQueue::close() {
  if (!thread_.joinable())
    return;
  {
    std::lock_guard lock(mutex_);
    for (uint32_t cpu = 0; cpu < gaps_.size(); cpu++)
      if (std::optional<Chunk> gap = take_gap(cpu))
        full_.push_back({std::move(gap)});
    closing_ = true;
    given_.notify_one();
  }
  thread_.join();
  output_.finish();
}

void LossyQueue::run() {
  enter_service_thread();
  std::unique_lock lock(mutex_);
  for (;;) {
    given_.wait(lock, [this] { return !full_.empty() || closing_; });
    if (full_.empty())
      return;
    const Item item = std::move(full_.front());
    full_.pop_front();
    lock.unlock();
    if (item.gap)
      output_.write(*item.gap);
    const size_t missing = item.chunk ? output_.write(*item.chunk) : 0;
    lock.lock();
    records_dropped_ += missing;
    if (item.chunk) {
      free_.push_back(item.chunk);
      under_way_--;
    }
  }
}

uint64_t LossyQueue::records_dropped() const {
  std::lock_guard lock(mutex_);
  return records_dropped_;
}

std::string LossyQueue::error() const {
  if (const std::string error = output_.error(); !error.empty() || !events_in_gaps_)
    return error;
  return fmt::format("what takes the chunks was too slow: {} events are missing, shown as "
                     "blackouts; try more --chunks",
                     events_in_gaps_);
}

} // namespace ovnitrace
