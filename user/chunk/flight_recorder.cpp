// SPDX-License-Identifier: BSD-2-Clause
#include "user/chunk/flight_recorder.h"

#include "emulator/format/chunk_header.h"
#include "emulator/format/switch_record.h"
#include "user/chunk/gap_chunk.h"

#include <algorithm>
#include <new>
#include <utility>

namespace ovnitrace {

namespace {

constexpr uint64_t kOverhead = 128; ///< bytes that a kept chunk takes beside its records

uint64_t bytes_of(const Chunk &chunk) {
  return chunk.records.size() * sizeof(ftrace_record) + kOverhead;
}
uint64_t begin_of(const Chunk &chunk) {
  return ftrace_record_tsc(&chunk.records.front());
}
uint64_t end_of(const Chunk &chunk) {
  return ftrace_record_tsc(&chunk.records.back());
}
uint32_t number_of(const Chunk &chunk) {
  return ChunkHeader::decode(chunk.records).number;
}

uint64_t events_in(const Chunk &chunk) {
  EventLoss events;
  events.add(chunk.records);
  return events.counted;
}

Gap gap_before(const Chunk &oldest, uint64_t begin, uint64_t forgotten) {
  return {oldest.cpu, number_of(oldest) - 1, begin, begin_of(oldest), forgotten};
}

Chunk end_chunk(const Chunk &newest, uint64_t end) {
  return small_chunk(newest.cpu, number_of(newest) + 1,
                     {{std::max(end, end_of(newest)), FTrace_EVT_trace_stop}});
}

} // namespace

FlightRecorder::FlightRecorder(ChunkDestination &output, uint32_t cpus, uint64_t bytes_per_cpu,
                               size_t chunk_records)
    : output_(output), bytes_per_cpu_(bytes_per_cpu), chunk_records_(chunk_records), filling_(cpus),
      histories_(cpus), states_(cpus) {}

void FlightRecorder::set_triggers(std::vector<uint16_t> codes, std::function<bool()> triggered) {
  triggers_ = std::move(codes);
  triggered_ = std::move(triggered);
}

Chunk *FlightRecorder::borrow(uint32_t cpu) {
  Chunk &chunk = filling_[cpu];
  chunk.records.reserve(chunk_records_);
  chunk.cpu = cpu;
  chunk.records.clear();
  return &chunk;
}

/// Keeps a copy of the size that is needed: a chunk that was handed over early takes no more.
void FlightRecorder::give(Chunk *chunk) {
  uint64_t bytes = bytes_of(*chunk);
  {
    std::lock_guard lock(mutex_);
    History &history = histories_[chunk->cpu];
    while (!history.chunks.empty() && history.bytes + bytes > bytes_per_cpu_)
      forget_oldest(history);
    for (bool kept = false; !kept;) {
      try {
        history.chunks.push_back(std::make_shared<const Chunk>(*chunk));
        history.bytes += bytes;
        kept = true;
      } catch (const std::bad_alloc &) { // no memory: the newest matter more than the oldest
        if (history.chunks.empty()) {
          records_dropped_ += chunk->records.size();
          break;
        }
        forget_oldest(history);
      }
    }
  }
  look_for_trigger(*chunk);
}

/// Saves if the chunk has a trigger. Call it when the chunk is kept, because the save must contain
/// it.
void FlightRecorder::look_for_trigger(const Chunk &chunk) {
  if (trigger_waits_)
    return;
  const auto comes = [&](uint16_t code) {
    return std::any_of(chunk.records.begin(), chunk.records.end(),
                       [&](const ftrace_record &record) { return has_event(record, code); });
  };
  if (std::none_of(triggers_.begin(), triggers_.end(), comes))
    return;
  trigger_waits_ = true;
  if (!triggered_())
    triggers_.clear();
}

void FlightRecorder::forget_oldest(History &history) {
  history.events_forgotten += events_in(*history.chunks.front());
  states_.fold(*history.chunks.front());
  history.forgot = true;
  history.bytes -= bytes_of(*history.chunks.front());
  history.chunks.pop_front();
}

void FlightRecorder::forget_before(uint64_t time) {
  std::lock_guard lock(mutex_);
  for (History &history : histories_)
    while (history.chunks.size() > 1 && end_of(*history.chunks.front()) < time)
      forget_oldest(history);
}

uint64_t FlightRecorder::sum(uint64_t History::*member) {
  std::lock_guard lock(mutex_);
  uint64_t all = 0;
  for (const History &history : histories_)
    all += history.*member;
  return all;
}

uint64_t FlightRecorder::save(ChunkDestination &output, uint64_t end) {
  rearm(); // before: what comes while it is copied may be in it or not
  return write(output, end);
}

void FlightRecorder::close() {
  if (!std::exchange(closed_, true))
    records_dropped_ += write(output_, std::nullopt);
}

ForgottenStates::Chunks FlightRecorder::kept_in(const std::vector<History> &histories) {
  ForgottenStates::Chunks kept;
  for (const History &history : histories)
    kept.insert(kept.end(), history.chunks.begin(), history.chunks.end());
  return kept;
}

/// Chunks are shared with those who write them, so that recording never waits for a save.
uint64_t FlightRecorder::write(ChunkDestination &output, std::optional<uint64_t> end) {
  std::unique_lock<std::mutex> lock(mutex_);
  std::vector<History> histories = histories_;
  const ForgottenStates states = states_;
  lock.unlock();
  uint64_t first = UINT64_MAX, missing = 0;
  bool forgot = false;
  for (const History &history : histories) {
    forgot |= history.forgot;
    if (!history.chunks.empty())
      first = std::min(first, begin_of(*history.chunks.front()));
  }
  const uint64_t begin =
      first - std::min<uint64_t>(first, 1); // so that states come before all that is kept
  ForgottenStates::Remembered result;
  if (forgot)
    result = states.remembered(begin, kept_in(histories));
  for (size_t cpu = 0; cpu < histories.size(); cpu++) {
    History &history = histories[cpu];
    if (history.chunks.empty())
      continue;
    if (history.forgot)
      missing += output.write(
          gap_chunk(gap_before(*history.chunks.front(), begin, history.events_forgotten),
                    result.states[cpu], result.unfinished[cpu]));
    else if (forgot)
      history.chunks.front() =
          std::make_shared<const Chunk>(without_start(*history.chunks.front()));
    const Chunk last = end_chunk(*history.chunks.back(), end.value_or(0));
    for (; !history.chunks.empty(); history.chunks.pop_front())
      missing += output.write(*history.chunks.front());
    if (end)
      missing += output.write(last);
  }
  output.finish();
  return missing;
}

} // namespace ovnitrace
