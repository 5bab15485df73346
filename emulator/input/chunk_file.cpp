// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/input/chunk_file.h"

#include "emulator/format/event_names.h"
#include "emulator/format/thread_identity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace ovnitrace {

namespace {

constexpr size_t kAhead = 8; ///< records whose contexts are prefetched

} // namespace

ChunkFile::ChunkFile(const ChunkInput &input, uint16_t file, int64_t clock_offset_ns,
                     const HostTables &tables, size_t block_records, DiagnosticSink &sink)
    : input_(input), tables_(tables), sink_(sink),
      buffer_(input.fd.get(), input.size, block_records, input.codec), clock_(clock_offset_ns),
      cpu_(tables.cpus.find(input.cpu)), file_(file) {
  buffer_.only(input.parts);
}

bool ChunkFile::next(Event &event) {
  if (ended_ || !waiting_.empty()) [[unlikely]] {
    if (waiting_.empty())
      return false;
    event = waiting_.front();
    waiting_.pop_front();
    return true;
  }
  if (switch_) {
    go_on(event);
    return true;
  }
  const uint64_t since = time_;
  const bool more = read(event);
  if (more && any_event_ && !gap_) [[likely]]
    return true;
  return next_beside_gap(event, since, more);
}

/// Handles the first event, a gap, or the end of the file. `event` is the next one if `more`.
bool ChunkFile::next_beside_gap(Event &event, uint64_t since, bool more) {
  const bool first = !std::exchange(any_event_, true);
  const uint64_t begin = first ? std::max(tables_.begin, tables_.times.first) : since;
  if (first && begin > tables_.begin) {
    // The blackout ends before the first event of any CPU, which may say the state of a thread.
    add_blackout(FTrace_EVT_blackout_start, tables_.begin, FTRACE_BLACKOUT_OUTSIDE);
    add_blackout(FTrace_EVT_blackout_end, begin - 1, FTRACE_BLACKOUT_OUTSIDE);
  }
  if (more ? std::exchange(gap_, false) : !stopped_ && begin <= tables_.times.last)
    add_gap(begin, more ? &event : nullptr);
  if (more)
    waiting_.push_back(event);
  else if (tables_.times.last < tables_.end)
    add_blackout(FTrace_EVT_blackout_start, tables_.times.last, FTRACE_BLACKOUT_OUTSIDE);
  ended_ = !more;
  if (waiting_.empty())
    return false;
  event = waiting_.front();
  waiting_.pop_front();
  return true;
}

/// Adds a blackout where records are missing: until the next event, or until the end.
void ChunkFile::add_gap(uint64_t begin, const Event *next) {
  // If the file has lost records that it had, it is not known how many are missing.
  const bool counted = !next && input_.unwritten && input_.records >= input_.written;
  if (counted && input_.unwritten_events == 0)
    return;
  const auto lost = uint32_t(counted ? std::min<uint64_t>(input_.unwritten_events, UINT32_MAX) : 0);
  add_blackout(FTrace_EVT_blackout_start, next ? std::min(begin, next->time) : begin,
               FTRACE_BLACKOUT_MISSING, lost);
  if (next || counted)
    add_blackout(FTrace_EVT_blackout_end, next ? next->time : tables_.times.last,
                 FTRACE_BLACKOUT_MISSING, lost);
}

void ChunkFile::add_blackout(uint32_t kind, uint64_t time, uint16_t what, uint32_t lost) {
  waiting_.push_back(
      {.time = time, .kind = kind, .cpu = cpu_, .par2 = lost, .par1 = what, .file = file_});
}

bool ChunkFile::read(Event &event) {
  for (;;) {
    if (position_ == block_end_ && !refill()) [[unlikely]]
      return false;
    const ftrace_record &record = *position_++;
    if (position_ + kAhead < block_end_) [[likely]] {
      bindings_.prefetch(position_[kAhead].par1);
      tables_.threads.prefetch(position_[kAhead].par2 & FTRACE_TID_MASK);
    }
    uint8_t code = code_of(record.code);
    const CodeKind kind = kCodeKinds[code];
    if (!is_event(kind) && kind != CodeKind::thread_state) [[unlikely]] {
      control(record, code);
      continue;
    }
    uint32_t thread = kNone;
    if (kind != CodeKind::plain_event) {
      thread = bindings_.thread(record.par1);
      if (thread == kNone && kind != CodeKind::maybe_thread) [[unlikely]] {
        report_unbound(record, code, record.par1);
        continue;
      }
    } else if (code == FTrace_EVT_trace_stop) [[unlikely]] {
      end_chunk(&record);
      stopped_ = true;
    }
    if (is_several_events(kind)) {
      if (!begin_switch(event, record, code)) [[unlikely]]
        continue;
      return true;
    }
    if (code == FTrace_EVT_mutex_unlock_misprint)
      code = FTrace_EVT_mutex_unlock;
    take_time(record, ftrace_record_tsc(&record));
    const PeerKind peer = kPeerKinds[code];
    const uint32_t peer_tid = peer == PeerKind::tid ? record.par2 & FTRACE_TID_MASK : 0;
    fill(event, record, code, thread);
    // The kernel raises sched_wakeup where the thread is woken, and a work item runs later.
    const bool late = code == FTrace_EVT_task_activate || code == FTrace_EXT_work;
    event.peer = peer_tid                    ? tables_.threads.latest(peer_tid, time_, late)
                 : peer == PeerKind::context ? bindings_.thread(uint16_t(record.par2))
                                             : kNone;
    event.par2 = par2_of(record);
    event.call = call_of(record);
    event.par1 = record.par1;
    return true;
  }
}

inline void ChunkFile::take_time(const ftrace_record &record, uint64_t tsc) {
  const uint64_t time = clock_.ns(tsc);
  time_ = time >= time_ && time <= tables_.times.last ? time : checked_time(record, time);
}

/// Makes the first event of an EXT_switch or EXT_wake_switch, whose thread is known. Returns false
/// if the next thread is not known.
bool ChunkFile::begin_switch(Event &event, const ftrace_record &record, uint8_t code) {
  const SwitchParts parts = SwitchParts::of(record);
  const Bindings::Binding *next = bindings_.find(parts.next);
  if (!next || next->thread == kNone) [[unlikely]] {
    report_unbound(record, code, parts.next);
    return false;
  }
  switch_ = &record;
  has_left_ = false;
  if (code != FTrace_EXT_wake_switch) {
    leave(event, record, parts);
    return true;
  }
  const Bindings::Binding &waker = *bindings_.find(record.par1);
  take_time(record, first_tsc(record));
  fill(event, record, FTrace_EVT_task_activate, next->thread);
  event.peer = waker.thread;
  event.par2 = waker.tid & FTRACE_TID_MASK;
  event.par1 = parts.next;
  event.call = FTRACE_CALL_UNKNOWN;
  return true;
}

/// Makes the next event of the record that begin_switch() began.
void ChunkFile::go_on(Event &event) {
  const SwitchParts parts = SwitchParts::of(*switch_);
  if (has_left_)
    dispatch(event, *std::exchange(switch_, nullptr), parts);
  else
    leave(event, *switch_, parts);
}

void ChunkFile::leave(Event &event, const ftrace_record &record, const SwitchParts &parts) {
  const Bindings::Binding &next = *bindings_.find(parts.next);
  take_time(record, ftrace_record_tsc(&record));
  fill(event, record, off_cpu_code(parts.reason), bindings_.thread(record.par1));
  event.peer = next.thread;
  event.par2 = (next.tid & FTRACE_TID_MASK) | parts.reason << FTRACE_REASON_SHIFT;
  event.par1 = record.par1;
  event.call = call_of(record);
  has_left_ = true;
}

void ChunkFile::dispatch(Event &event, const ftrace_record &record, const SwitchParts &parts) {
  fill(event, record, FTrace_EVT_task_dispatch, bindings_.thread(parts.next));
  event.peer = kNone;
  event.par2 = parts.priority;
  event.par1 = parts.next;
  event.call = FTRACE_CALL_UNKNOWN;
}

/// Makes the event of a record, without the meaning of its parameters.
inline void ChunkFile::fill(Event &event, const ftrace_record &record, uint8_t code,
                            uint32_t thread) const {
  event.time = time_;
  event.kind = code;
  event.thread = thread;
  event.cpu = cpu_;
  event.file = file_;
  event.offset = offset_of(&record);
  event.payload = nullptr;
  event.payload_size = 0;
}

bool ChunkFile::refill() {
  const std::span<const ftrace_record> block = buffer_.next_block();
  block_ = position_ = block.data();
  block_end_ = block_ + block.size();
  if (const std::string fault = buffer_.take_fault(); !fault.empty())
    report_gap(buffer_.block_offset(), fault);
  if (buffer_.jumped())
    any_number_ = false;
  if (!block.empty())
    return true;
  finish();
  return false;
}

/// Reports what is missing at the end of the file.
void ChunkFile::finish() {
  if (input_.missing || input_.unwritten)
    return; // reported already
  if (input_.size == 0)
    warn(0, "the file is empty");
  else if (buffer_.error())
    warn(buffer_.block_offset(), fmt::format("cannot read further: {}", strerror(buffer_.error())));
  else if (buffer_.tail())
    warn(buffer_.block_offset(),
         fmt::format("the file was cut: its last {} bytes are not a whole record", buffer_.tail()));
  else if (!stopped_)
    warn(buffer_.block_offset(), "the file ends without trace_stop: the capture still runs, the "
                                 "file was cut, or the tracer was killed");
}

uint64_t ChunkFile::offset_of(const ftrace_record *record) const {
  return buffer_.block_offset() + uint64_t(record - block_) * sizeof(ftrace_record);
}

void ChunkFile::warn(uint64_t offset, std::string what) {
  sink_.report({.file = input_.name, .offset = offset, .what = std::move(what)});
}

void ChunkFile::report_gap(uint64_t offset, std::string what) {
  gap_ = true;
  warn(offset, std::move(what));
}

/// Returns the time for an event whose own time is impossible.
uint64_t ChunkFile::checked_time(const ftrace_record &record, uint64_t time) {
  if (time < time_)
    warn(offset_of(&record), fmt::format("the time goes back by {} ns", time_ - time));
  else
    warn(offset_of(&record),
         fmt::format("the time is {} ns after the end of the trace", time - tables_.times.last));
  return time_;
}

void ChunkFile::report_unbound(const ftrace_record &record, uint8_t code, uint16_t context) {
  report_gap(offset_of(&record),
             fmt::format("{} of context {}, for which there is no id record: dropped",
                         event_name(code), context));
}

void ChunkFile::control(const ftrace_record &record, uint8_t code) {
  switch (code) {
  case FTrace_EVT_empty:
    return;
  case FTrace_EVT_cycles_per_msec:
    rate_offset_ = offset_of(&record);
    if (record.par2)
      clock_.set_rate(record.par2);
    else
      warn(offset_of(&record), "cycles_per_msec is 0: left out");
    return;
  case FTrace_EXT_format:
    return begin_chunk(record);
  case FTrace_EXT_chunk:
    return chunk_number(record);
  case FTrace_EVT_numevents:
    declared_records_ = record.par2;
    return;
  case FTrace_EVT_id:
    return bind(record);
  case FTrace_EXT_process:
    return bind_birth(record);
  case FTrace_EVT_next_chunk:
    return end_chunk(&record);
  case FTrace_EXT_parent:
  case FTrace_EXT_cgroup:
  case FTrace_EXT_name_0:
  case FTrace_EXT_name_1:
  case FTrace_EXT_name_2:
  case FTrace_EXT_name_3:
    return; // the catalog knows
  case FTrace_EXT_extension:
    return skip_extension(record);
  case FTrace_EXT_payload:
    return; // of an extension, which was reported
  default:
    report_gap(offset_of(&record), fmt::format("unknown code {:#06x}: left out", record.code));
  }
}

/// Skips an extension: no family is known so far. Its EXT_payload records are skipped one by one,
/// so a wrong length does no harm.
void ChunkFile::skip_extension(const ftrace_record &record) {
  constexpr size_t kMostFamilies = 16; // a damaged file may have a new one in each record
  if (unknown_families_.size() < kMostFamilies && unknown_families_.insert(record.par2).second)
    warn(offset_of(&record), fmt::format("events of the unknown family {:#x} are skipped: a newer "
                                         "ovnitrace may know them",
                                         record.par2));
}

/// Starts a chunk at its EXT_format. The cycles_per_msec is the record before.
void ChunkFile::begin_chunk(const ftrace_record &record) {
  const uint64_t offset = offset_of(&record);
  const bool after_rate = rate_offset_ + sizeof(ftrace_record) == offset;
  if (!after_rate)
    warn(offset, "a chunk starts without cycles_per_msec");
  if (record.par1 > FTRACE_EXT_VERSION)
    warn(offset, fmt::format("the chunk has version {}, newer than this ovnitrace: use a newer one",
                             record.par1));
  if (in_chunk_)
    end_chunk(nullptr);
  in_chunk_ = true;
  stopped_ = false;
  chunk_begin_ = after_rate ? rate_offset_ : offset;
  declared_records_ = 0;
  bindings_.clear();
}

void ChunkFile::chunk_number(const ftrace_record &record) {
  if (any_number_ && record.par2 != next_number_)
    report_gap(offset_of(&record),
               fmt::format("chunk {} is in the place of chunk {}", record.par2, next_number_));
  // A flight recorder's first chunk can have any, if all that was written is there.
  if (!any_number_ && record.par2 && input_.records < input_.written)
    gap_ = true;
  any_number_ = true;
  next_number_ = uint64_t(record.par2) + 1;
  cpu_ = tables_.cpus.find(record.par1);
}

void ChunkFile::bind(const ftrace_record &record) {
  const uint16_t context = record.par1;
  if (context == 0)
    return warn(offset_of(&record), "an id for context 0, which is not a thread: left out");
  bindings_.bind(context, record.par2, tables_.threads.find(record.par2, 0));
}

void ChunkFile::bind_birth(const ftrace_record &record) {
  Bindings::Binding *binding = bindings_.find(record.par1);
  if (!binding)
    return; // its events are reported
  ThreadIdentity process;
  process.take(record, [this](uint64_t ticks) { return clock_.ns(ticks); });
  binding->thread = tables_.threads.find(binding->tid, process.birth);
}

/// Ends a chunk with its last record, if it has one.
void ChunkFile::end_chunk(const ftrace_record *last) {
  if (!in_chunk_)
    return;
  in_chunk_ = false;
  if (!last) {
    report_gap(chunk_begin_, "a chunk has no end");
    return;
  }
  const uint64_t records = (offset_of(last + 1) - chunk_begin_) / sizeof(ftrace_record);
  if (declared_records_ && declared_records_ != records)
    report_gap(chunk_begin_, fmt::format("a chunk has {} records, but its numevents says {}",
                                         records, declared_records_));
}

} // namespace ovnitrace
