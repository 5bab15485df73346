// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/input/file_scan.h"

#include "emulator/base/error.h"
#include "emulator/format/switch_record.h"
#include "emulator/input/record_buffer.h"

#include <algorithm>

namespace ovnitrace {

namespace {

constexpr size_t kBlockRecords = 16384;
constexpr size_t kMostGivenAway = 1 << 16; ///< of the tids of each scan

/// Updates the times of execves and of the end by others of the same thread.
void take_times(KnownThread &known, uint64_t executed, uint64_t ended) {
  known.executed = std::max(known.executed, executed);
  known.ended = std::max(known.ended, ended);
}

/// Updates `known` by what a chunk says about the same thread.
void take(ThreadIdentity &known, const ThreadIdentity &said) {
  if (said.pid)
    known.pid = said.pid;
  if (said.parent)
    known.parent = said.parent;
  if (said.name && !said.name->empty() && said.name_time >= known.name_time) {
    known.name = said.name;
    known.name_time = said.name_time;
  }
}
} // namespace

void FileScan::file(const HostFile &file) {
  ChunkInput &chunk = *file.chunk;
  host_ = file.host_index;
  clock_ = TickClock(file.host->clock_offset_ns);
  any_format_ = any_chunk_ = any_event_ = false;
  RecordBuffer buffer(chunk.fd.get(), chunk.size, kBlockRecords, chunk.codec);
  planner_.start_file();
  next_number_.reset();
  for (auto block = buffer.next_block(); !block.empty(); block = buffer.next_block()) {
    const ftrace_record *last = nullptr;
    chunk.records += block.size();
    frames_ = buffer.frames();
    for (const ftrace_record &record : block) {
      const uint8_t code = code_of(record.code);
      const CodeKind kind = kCodeKinds[code];
      if (is_event(kind)) [[likely]] {
        last = &record;
        if (!any_event_ || code == FTrace_EVT_trace_start) [[unlikely]]
          event(record);
        if (code == FTrace_EXT_exec || code == FTrace_EVT_task_end) [[unlikely]]
          note_life(record, code);
      } else if (kind == CodeKind::control) {
        if (last)
          last_tsc_ = ftrace_record_tsc(last);
        control(record, code,
                buffer.block_offset() + uint64_t(&record - block.data()) * sizeof(record), chunk);
      }
      if (planner_.wanted()) [[unlikely]]
        plan(record, code);
    }
    if (last)
      last_tsc_ = ftrace_record_tsc(last);
  }
  end_identities();
  note_last();
  found_.cpus.emplace(host_, chunk.cpu);
  if (buffer.error() || buffer.tail() || !buffer.take_fault().empty() || chunk.missing ||
      chunk.unwritten || chunk.records < chunk.written)
    planner_.give_up();
}

void FileScan::event(const ftrace_record &record) {
  const uint64_t time = clock_.ns(first_tsc(record));
  any_event_ = true;
  HostTimes &times = found_.times[host_];
  times.first = std::min(times.first, time);
  if (code_of(record.code) == FTrace_EVT_trace_start)
    times.start = std::min(times.start, time);
}

/// Notes the last event at a clock rate.
void FileScan::note_last() {
  uint64_t &last = found_.times[host_].last;
  if (last_tsc_)
    last = std::max(last, clock_.ns(*last_tsc_));
  last_tsc_.reset();
}

/// Notes an execve or the end of a thread. An execve of another thread than the main one ends that
/// thread, whose tid is parameter 2.
void FileScan::note_life(const ftrace_record &record, uint8_t code) {
  if (!is_bound(record.par1))
    return;
  Introduced &thread = *identities_[record.par1];
  const uint64_t time = clock_.ns(ftrace_record_tsc(&record));
  (code == FTrace_EXT_exec ? thread.executed : thread.ended) = time;
  if (code == FTrace_EXT_exec && record.par2 && record.par2 != thread.identity.tid &&
      found_.given_away.size() < kMostGivenAway)
    found_.given_away.push_back({host_, record.par2, thread.identity.tid, time});
}

void FileScan::plan(const ftrace_record &record, uint8_t code) {
  const CodeKind kind = kCodeKinds[code];
  const bool is_of_thread =
      is_several_events(kind) || kind == CodeKind::thread_event || kind == CodeKind::thread_state;
  if ((is_of_thread && !is_bound(record.par1)) ||
      (is_several_events(kind) && !is_bound(SwitchParts::of(record).next)))
    return planner_.give_up();
  const uint64_t time = clock_.ns(ftrace_record_tsc(&record));
  planner_.record(record, code, clock_.ns(first_tsc(record)), time);
  plan_cpu(record, code, time);
}

/// Notes who has the CPU of the file after this record, whose contexts are known.
void FileScan::plan_cpu(const ftrace_record &record, uint8_t code, uint64_t time) {
  switch (code) {
  case FTrace_EXT_switch:
  case FTrace_EXT_wake_switch:
    planner_.leaves_cpu(key_of(record.par1));
    return planner_.takes_cpu(key_of(SwitchParts::of(record).next), time);
  case FTrace_EVT_task_dispatch:
    return planner_.takes_cpu(key_of(record.par1), time);
  case FTrace_EVT_task_epilogue:
  case FTrace_EVT_task_sleep:
  case FTrace_EVT_task_end:
    return planner_.leaves_cpu(key_of(record.par1));
  case FTrace_EXT_snapshot:
    if (is_running_snapshot(record))
      planner_.runs_at_start(key_of(record.par1));
    return;
  case FTrace_EXT_exec:
  case FTrace_EVT_blackout_start:
    return planner_.forget_cpu();
  default:
    return;
  }
}

/// Notes a chunk. `offset`: of the record after its first.
void FileScan::plan_chunk(uint64_t offset) {
  if (offset < sizeof(ftrace_record))
    return planner_.give_up();
  const uint64_t start = offset - sizeof(ftrace_record);
  if (!frames_)
    return planner_.start_chunk(start, start);
  for (const FrameReader::Start &frame : *frames_)
    if (frame.offset == start)
      return planner_.start_chunk(start, frame.place);
}

void FileScan::control(const ftrace_record &record, uint8_t code, uint64_t offset,
                       ChunkInput &chunk) {
  switch (code) {
  case FTrace_EVT_cycles_per_msec:
    note_last();
    if (record.par2)
      clock_.set_rate(record.par2);
    return;
  case FTrace_EXT_format:
    end_identities();
    if (!any_format_ && record.par1 > FTRACE_EXT_VERSION)
      throw Error("cannot read " + chunk.name + ": its chunks are of version " +
                  std::to_string(record.par1) + ", this ovnitrace knows " +
                  std::to_string(FTRACE_EXT_VERSION) + ": use a newer ovnitrace");
    any_format_ = true;
    if (planner_.wanted())
      plan_chunk(offset);
    return;
  case FTrace_EXT_chunk:
    if (!any_chunk_)
      chunk.cpu = record.par1;
    any_chunk_ = true;
    if (next_number_.value_or(record.par2) != record.par2)
      planner_.give_up(); // one is missing
    next_number_ = uint64_t(record.par2) + 1;
    found_.cpus.emplace(host_, record.par1);
    return;
  case FTrace_EVT_id:
    return begin_identity(record);
  default:
    if (!is_bound(record.par1))
      return;
    Introduced &thread = *identities_[record.par1];
    if (code == FTrace_EXT_name_0 && thread.identity.name) {
      note_name(thread);
      thread.renamed = true;
    }
    thread.identity.take(record, [this](uint64_t ticks) { return clock_.ns(ticks); });
    if (code == FTrace_EXT_cgroup && record.par2 && record.par2 <= kMostCgroups)
      found_.threads[host_]
          .of(thread.identity.tid, thread.identity.birth)
          .cgroups.add({thread.identity.cgroup_since, record.par2 - 1});
  }
}

void FileScan::begin_identity(const ftrace_record &id) {
  const uint16_t context = id.par1;
  if (context == 0)
    return; // no thread
  if (identities_.size() <= context)
    identities_.resize(std::max<size_t>(size_t(context) + 1, identities_.size() * 2));
  std::optional<Introduced> &of = identities_[context];
  if (of)
    end_identity(context);
  else
    used_.push_back(context);
  of.emplace().identity.take(id);
}

void FileScan::note_name(const Introduced &thread) {
  using Said = NameHistory::Said;
  const ThreadIdentity &said = thread.identity;
  const Said how = !thread.renamed                     ? Said::again
                   : said.name_time == thread.executed ? Said::executed
                                                       : Said::renamed;
  if (said.name && !said.name->empty())
    found_.threads[host_].of(said.tid, said.birth).names.add(said.name_time, *said.name, how);
}

void FileScan::end_identity(uint16_t context) {
  std::optional<Introduced> &of = identities_[context];
  if (planner_.wanted())
    planner_.end_context(context, key_of(context));
  KnownThread &known = found_.threads[host_].of(of->identity.tid, of->identity.birth);
  take(known.identity, of->identity);
  take_times(known, of->executed, of->ended);
  note_name(*of);
  of.reset();
}

void FileScan::end_identities() {
  for (uint16_t context : used_)
    end_identity(context);
  used_.clear();
}

void ScanResult::join(ScanResult &&later) {
  for (size_t host = 0; host < threads.size(); host++) {
    times[host].start = std::min(times[host].start, later.times[host].start);
    times[host].first = std::min(times[host].first, later.times[host].first);
    times[host].last = std::max(times[host].last, later.times[host].last);
    for (const KnownThread &thread : later.threads[host].all()) {
      KnownThread &known = threads[host].of(thread.identity.tid, thread.identity.birth);
      take(known.identity, thread.identity);
      known.names.join(thread.names);
      known.cgroups.join(thread.cgroups);
      take_times(known, thread.executed, thread.ended);
    }
  }
  cpus.merge(later.cpus);
  given_away.insert(given_away.end(), later.given_away.begin(), later.given_away.end());
}

void FileScan::join(FileScan &&later) {
  planner_.join(std::move(later.planner_));
  found_.join(std::move(later.found_));
}

} // namespace ovnitrace
