// SPDX-License-Identifier: BSD-2-Clause
#include "user/chunk/linked_chunks.h"

#include "emulator/base/human.h"
#include "emulator/format/chunk_header.h"
#include "user/chunk/small_chunk.h"

#include <algorithm>
#include <new>
#include <utility>

namespace ovnitrace {

LinkedChunks::LinkedChunks(ChunkDestination &output, WhenFull when_full, uint32_t cpus,
                           size_t waiting, size_t chunk_records,
                           const PipelineCompression &compression)
    : output_(output), when_full_(when_full), waiting_(waiting), chunk_records_(chunk_records),
      gaps_(cpus), shifts_(cpus), line_(output, compression, [this](Chunk *chunk, size_t missing) {
        take_back(chunk, missing);
      }) {
  for (uint32_t cpu = 0; cpu < cpus; cpu++)
    add_chunk();
}

LinkedChunks::~LinkedChunks() {
  close();
}

void LinkedChunks::add_chunk() {
  auto chunk = std::make_unique<Chunk>();
  chunk->records.reserve(chunk_records_);
  chunks_.push_back(std::move(chunk));
  free_.push_back(chunks_.back().get());
}

/// Returns whether one chunk more may be under way, and each CPU has one to fill all the same.
bool LinkedChunks::has_room() {
  if (under_way_ >= waiting_)
    return false;
  try {
    if (chunks_.size() < gaps_.size() + under_way_ + 1)
      add_chunk();
    return true;
  } catch (const std::bad_alloc &) {
    return false;
  }
}

/// Waits only with kWait: otherwise give() has made sure that a chunk is free.
Chunk *LinkedChunks::borrow(uint32_t cpu) {
  std::unique_lock<std::mutex> lock(mutex_);
  returned_.wait(lock, [this] { return !free_.empty(); });
  Chunk *chunk = free_.back();
  free_.pop_back();
  chunk->cpu = cpu;
  chunk->records.clear();
  return chunk;
}

void LinkedChunks::give(Chunk *chunk) {
  std::lock_guard lock(mutex_);
  if (!has_room() && when_full_ == kDrop) {
    drop(*chunk);
    free_.push_back(chunk);
    return;
  }
  add_gap(chunk->cpu);
  renumber(*chunk);
  under_way_++;
  line_.add(chunk);
}

/// Adds the gap of a CPU, if there is one, before its next chunk.
void LinkedChunks::add_gap(uint32_t cpu) {
  if (std::optional<Chunk> gap = take_gap(cpu))
    line_.add(&gap_chunks_.emplace_back(std::move(*gap)));
}

void LinkedChunks::drop(const Chunk &chunk) {
  Gap &gap = gaps_[chunk.cpu];
  if (gap.chunks++ == 0) {
    gap.begin = ftrace_record_tsc(&chunk.records.front());
    gap.number = ChunkHeader::decode(chunk.records).number - shifts_[chunk.cpu];
  }
  gap.end = ftrace_record_tsc(&chunk.records.back());
  gap.last = chunk.records.back().code == FTrace_EVT_trace_stop;
  EventLoss loss;
  loss.add(chunk.records);
  gap.events += loss.lost;
  dropped_ += loss;
}

void LinkedChunks::renumber(Chunk &chunk) const {
  const uint32_t shift = shifts_[chunk.cpu];
  if (shift == 0)
    return;
  const ChunkHeader header = ChunkHeader::decode(chunk.records);
  ChunkHeader::set_place(chunk.records, header.cpu, header.number - shift);
  if (chunk.records.back().code == FTrace_EVT_next_chunk)
    chunk.records.back().par2 -= shift;
}

/// Returns the gap of a CPU as a chunk of its own. One number stands for all chunks that were
/// dropped.
std::optional<Chunk> LinkedChunks::take_gap(uint32_t cpu) {
  const Gap gap = std::exchange(gaps_[cpu], {});
  if (!gap.chunks)
    return std::nullopt;
  shifts_[cpu] += gap.chunks - 1;
  std::vector<SmallEvent> events = {
      {gap.begin, FTrace_EVT_blackout_start},
      {gap.end, FTrace_EVT_blackout_end, 0, uint32_t(std::min<uint64_t>(gap.events, UINT32_MAX))}};
  if (gap.last)
    events.push_back({gap.end, FTrace_EVT_trace_stop});
  dropped_.counted -= events.size(); // these are in the trace in their place
  return small_chunk(cpu, gap.number, events);
}

void LinkedChunks::close() {
  {
    std::lock_guard lock(mutex_);
    for (uint32_t cpu = 0; cpu < gaps_.size(); cpu++)
      add_gap(cpu);
  }
  line_.close();
}

void LinkedChunks::take_back(Chunk *chunk, size_t missing) {
  std::lock_guard lock(mutex_);
  if (gap_chunks_.remove_if([chunk](const Chunk &gap) { return &gap == chunk; }))
    return;
  not_taken_ += missing;
  free_.push_back(chunk);
  under_way_--;
  returned_.notify_one();
}

uint64_t LinkedChunks::records_dropped() const {
  std::lock_guard lock(mutex_);
  return dropped_.records + not_taken_;
}

EventLoss LinkedChunks::dropped() const {
  std::lock_guard lock(mutex_);
  return dropped_;
}

std::string LinkedChunks::error() const {
  if (const std::string error = output_.error(); !error.empty() || !dropped_.lost)
    return error;
  return "what takes the chunks was too slow: " +
         human_count(dropped_.lost, "event is", "events are") +
         " missing, shown as blackouts; try more --chunks";
}

} // namespace ovnitrace
