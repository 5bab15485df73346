// SPDX-License-Identifier: BSD-2-Clause
#include "user/net/chunk_assembler.h"

#include "emulator/format/chunk_header.h"
#include "emulator/format/switch_record.h"
#include "emulator/format/thread_identity.h"
#include "user/chunk/event_count.h"
#include "user/chunk/small_chunk.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace ovnitrace {

namespace {

std::string_view bytes_of(const ftrace_record *records, size_t count) {
  return {reinterpret_cast<const char *>(records), count * sizeof(ftrace_record)};
}

/// Returns the time of the first record whose TSC is a time; `otherwise` without such a record.
uint64_t time_of_first(std::span<const ftrace_record> records, uint64_t otherwise) {
  for (const ftrace_record &record : records)
    if (!ThreadIdentity::has_birth(code_of(record.code)))
      return first_tsc(record);
  return otherwise;
}

uint32_t saturated(uint64_t number) {
  return uint32_t(std::min<uint64_t>(number, UINT32_MAX));
}

} // namespace

bool ChunkAssembler::take(uint32_t chunk, uint64_t events_before,
                          std::span<const ftrace_record> records, uint64_t first_time,
                          uint64_t datagrams_lost) {
  if (events_before < events_)
    return false;
  const uint64_t missing = events_before - events_;
  const bool goes_on = open_ && chunk == chunk_;
  const uint64_t time = std::max(last_time_, time_of_first(records, last_time_));
  if (missing)
    lose(missing, any_ ? last_time_ : std::min(first_time, time));
  events_ = events_before;
  damaged_ |= datagrams_lost != std::exchange(datagrams_lost_, datagrams_lost) || missing;
  if (!goes_on)
    begin_chunk(chunk, records, time);
  for (const ftrace_record &one : records)
    record(one);
  flush();
  return true;
}

/// Takes the header away from `records` if it is there; makes one if it is lost.
void ChunkAssembler::begin_chunk(uint32_t chunk, std::span<const ftrace_record> &records,
                                 uint64_t time) {
  if (!any_)
    number_ = pending_ && chunk ? chunk - 1 : chunk; // a flight recorder's first can have any
  add_loss_between(time, false);
  if (open_) {
    ftrace_record next;
    ftrace_record_set(&next, FTrace_EVT_next_chunk, 0, last_time_, number_);
    end_chunk(next);
  }
  damaged_ = !ChunkHeader::starts(records);
  contexts_.reset();
  chunk_ = chunk;
  chunk_begin_ = size_;
  open_ = any_ = true;
  stopped_ = false;
  auto header = ChunkHeader{.time = time}.encode();
  if (!damaged_) {
    std::copy_n(records.begin(), header.size(), header.begin());
    records = records.subspan(header.size());
  }
  ChunkHeader::set_place(header, cpu_, number_++);
  declared_records_ = ChunkHeader::decode(header).records;
  for (const ftrace_record &one : header)
    put(one);
}

void ChunkAssembler::record(const ftrace_record &record) {
  const uint8_t code = code_of(record.code);
  const CodeKind kind = kCodeKinds[code];
  const uint64_t events = events_of(record);
  if (!open_) // after its own end: no sender of ours does so
    return;
  if (code == FTrace_EVT_next_chunk || code == FTrace_EVT_trace_stop) {
    last_time_ = std::max(last_time_, ftrace_record_tsc(&record));
    add_loss(last_time_);
    return end_chunk(record);
  }
  if (code == FTrace_EVT_id && record.par1 < kMostContexts)
    contexts_.set(record.par1);
  events_ += events;
  if (damaged_ && !knows_thread(record)) {
    if (is_event(kind))
      lose(events, last_time_);
    return;
  }
  if (is_event(kind) ||
      kind == CodeKind::thread_state) { // a state holds after what is lost before it
    last_time_ = std::max(last_time_, first_tsc(record));
    add_loss(last_time_);
    last_time_ = std::max(last_time_, ftrace_record_tsc(&record));
  }
  put(record);
}

/// Whether what the record is about is known; true if it is about no thread.
bool ChunkAssembler::knows_thread(const ftrace_record &record) const {
  const uint8_t code = code_of(record.code);
  const CodeKind kind = kCodeKinds[code];
  const bool identity =
      kind == CodeKind::control && code != FTrace_EVT_id && (code & FTrace_family_mask) == 0xC;
  const auto knows = [this](uint16_t context) {
    return context < kMostContexts && contexts_[context];
  };
  if (is_several_events(kind))
    return knows(record.par1) && knows(SwitchParts::of(record).next);
  if (kind != CodeKind::thread_event && kind != CodeKind::thread_state &&
      kind != CodeKind::maybe_thread && !identity)
    return true;
  if (kind == CodeKind::maybe_thread && record.par1 == 0)
    return true;
  return knows(record.par1);
}

void ChunkAssembler::lose(uint64_t events, uint64_t since) {
  if (!pending_)
    pending_since_ = since;
  pending_ += events;
  events_lost_ += events;
}

/// A blackout in the open chunk, until `time`.
void ChunkAssembler::add_loss(uint64_t time) {
  if (!pending_)
    return;
  put(FTrace_EVT_blackout_start, 0, std::min(pending_since_, time), 0);
  put(FTrace_EVT_blackout_end, 0, time, saturated(std::exchange(pending_, 0)));
}

/// The same in the open chunk, or in one of its own; and the end of the trace there.
void ChunkAssembler::add_loss_between(uint64_t time, bool stop) {
  if (open_) {
    add_loss(time);
    last_time_ = std::max(last_time_, time);
    if (stop) {
      ftrace_record last;
      ftrace_record_set(&last, FTrace_EVT_trace_stop, 0, time, 0);
      end_chunk(last);
    }
    return;
  }
  std::vector<SmallEvent> events;
  if (pending_) {
    events.push_back({std::min(pending_since_, time), FTrace_EVT_blackout_start});
    events.push_back({time, FTrace_EVT_blackout_end, 0, saturated(std::exchange(pending_, 0))});
  }
  if (stop)
    events.push_back({time, FTrace_EVT_trace_stop});
  if (events.empty())
    return;
  for (const ftrace_record &one : small_chunk(cpu_, number_++, events).records)
    put(one);
  last_time_ = time;
  any_ = true;
  stopped_ = stop;
}

/// Writes its last record; its numevents is corrected if it is not true any more.
void ChunkAssembler::end_chunk(const ftrace_record &last) {
  if (last.code == FTrace_EVT_next_chunk)
    put(last.code, last.par1, ftrace_record_tsc(&last), number_);
  else
    put(last);
  stopped_ = last.code == FTrace_EVT_trace_stop;
  open_ = false;
  const uint32_t records = uint32_t((size_ - chunk_begin_) / sizeof(ftrace_record));
  if (records == declared_records_)
    return;
  flush();
  sink_.overwrite(cpu_, chunk_begin_ + ChunkHeader::kRecordsOffset,
                  {reinterpret_cast<const char *>(&records), sizeof records});
}

void ChunkAssembler::end(uint64_t events, uint64_t time, uint64_t first_time) {
  if (events > events_)
    lose(events - events_, any_ ? last_time_ : std::min(first_time, time));
  events_ = std::max(events_, events);
  if (stopped_ && !pending_)
    return;
  add_loss_between(std::max(last_time_, time), true);
  flush();
}

void ChunkAssembler::cut() {
  if (open_)
    add_loss(last_time_);
  flush();
}

void ChunkAssembler::put(const ftrace_record &record) {
  out_ += bytes_of(&record, 1);
  size_ += sizeof record;
}

void ChunkAssembler::put(uint16_t code, uint16_t par1, uint64_t time, uint32_t par2) {
  ftrace_record record;
  ftrace_record_set(&record, code, par1, time, par2);
  put(record);
}

void ChunkAssembler::flush() {
  if (!out_.empty())
    sink_.append(cpu_, false, out_);
  out_.clear();
}

} // namespace ovnitrace
