// SPDX-License-Identifier: BSD-2-Clause
#include "user/net/chunk_assembler.h"

#include "emulator/format/chunk_header.h"
#include "user/chunk/event_count.h"
#include "user/chunk/small_chunk.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace ovnitrace {

bool ChunkAssembler::take(uint32_t chunk, uint64_t events_before,
                          std::span<const ftrace_record> records, uint64_t first_time,
                          uint64_t datagrams_lost) {
  if (events_before < events_)
    return false;
  // The datagrams of a chunk follow one another: one that is lost meanwhile was of this chunk.
  const bool goes_on =
      open_ && chunk == chunk_ && events_before == events_ && datagrams_lost == datagrams_lost_;
  datagrams_lost_ = datagrams_lost;
  lose(events_before - events_);
  uint64_t events = 0;
  for (const ftrace_record &record : records)
    events += events_of(record);
  events_ = events_before + events;
  if (open_ && !goes_on)
    close_chunk();
  std::vector<ftrace_record> written(records.begin(), records.end());
  if (ChunkHeader::starts(records)) {
    const uint64_t time = std::max(last_time_, ChunkHeader::decode(records).time);
    if (size_ == 0) // a flight recorder's first chunk can have any number
      number_ = pending_ && chunk ? chunk - 1 : chunk;
    add_small_chunk(time, first_time, false);
    ChunkHeader::set_place(written, cpu_, number_++);
    chunk_ = chunk;
    chunk_begin_ = size_;
    open_ = true;
    stopped_ = false;
  } else if (!goes_on) { // its start is missing
    lose(events);
    return true;
  }
  for (ftrace_record &record : written) {
    const CodeKind kind = kCodeKinds[code_of(record.code)];
    const bool next = record.code == FTrace_EVT_next_chunk,
               stop = record.code == FTrace_EVT_trace_stop;
    if (is_event(kind) || kind == CodeKind::thread_state || next || stop)
      last_time_ = std::max(last_time_, ftrace_record_tsc(&record));
    if (next)
      record.par2 = number_;
    open_ &= !next && !stop;
    stopped_ |= stop;
  }
  put(written);
  return true;
}

void ChunkAssembler::end(uint64_t events, uint64_t time, uint64_t first_time) {
  if (open_)
    close_chunk();
  lose(std::max(events, events_) - events_);
  events_ = std::max(events, events_);
  add_small_chunk(std::max(last_time_, time), first_time, !stopped_ || pending_);
}

void ChunkAssembler::lose(uint64_t events) {
  pending_ += events;
  events_lost_ += events;
}

/// Ends a chunk whose rest is missing, and corrects its numevents.
void ChunkAssembler::close_chunk() {
  ftrace_record last;
  ftrace_record_set(&last, FTrace_EVT_next_chunk, 0, last_time_, number_);
  put({&last, 1});
  open_ = false;
  const uint32_t records = uint32_t((size_ - chunk_begin_) / sizeof(ftrace_record));
  sink_.overwrite(cpu_, chunk_begin_ + ChunkHeader::kRecordsOffset,
                  {reinterpret_cast<const char *>(&records), sizeof records});
}

/// Adds what is lost, as a blackout until `time`, and the end of the trace.
void ChunkAssembler::add_small_chunk(uint64_t time, uint64_t first_time, bool stop) {
  std::vector<SmallEvent> events;
  if (pending_) {
    const uint64_t since = size_ ? last_time_ : std::min(first_time, time);
    const auto lost = uint32_t(std::min<uint64_t>(std::exchange(pending_, 0), UINT32_MAX));
    events = {{since, FTrace_EVT_blackout_start}, {time, FTrace_EVT_blackout_end, 0, lost}};
  }
  if (stop)
    events.push_back({time, FTrace_EVT_trace_stop});
  if (events.empty())
    return;
  put(small_chunk(cpu_, number_++, events).records);
  last_time_ = time;
  stopped_ = stop;
}

void ChunkAssembler::put(std::span<const ftrace_record> records) {
  sink_.append(cpu_, Codec::none, {reinterpret_cast<const char *>(records.data()), records.size_bytes()});
  size_ += records.size_bytes();
}

} // namespace ovnitrace
