// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/input/cut_plan.h"

#include "emulator/format/switch_record.h"
#include "emulator/format/thread_state.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace ovnitrace {

namespace {

/// Chunks are taken together up to this size: those of datagrams have one or two KiB.
constexpr uint64_t kRunBytes = 64 << 10;

constexpr auto kScheduling = [] {
  std::array<bool, 256> is{};
  for (const uint8_t code :
       {FTrace_EVT_trace_start, FTrace_EVT_task_activate, FTrace_EVT_task_dispatch,
        FTrace_EVT_task_epilogue, FTrace_EVT_task_sleep, FTrace_EVT_task_end, FTrace_EXT_switch,
        FTrace_EXT_wake_switch, FTrace_EXT_migrate, FTrace_EXT_snapshot, FTrace_EXT_state,
        FTrace_EXT_stack, FTrace_EXT_waker_stack, FTrace_EXT_device, FTrace_EXT_refill,
        FTrace_EXT_holder})
    is[code] = true;
  return is;
}();

/// Returns whether the event names no thread, but belongs to the one that runs on its CPU.
bool is_user_event(uint8_t code) {
  constexpr uint8_t kFamily = 0x0f;
  return (code & kFamily) == (FTrace_EVT_user_event_0 & kFamily) || code == FTrace_EVT_ipoint;
}

/// Returns whether no event before this one matters to the state of its thread.
bool is_fresh(const ftrace_record &record, uint8_t code) {
  switch (code) {
  case FTrace_EVT_task_epilogue:
  case FTrace_EVT_task_sleep:
  case FTrace_EVT_task_end:
  case FTrace_EXT_switch:
  case FTrace_EXT_wake_switch:
    return true;
  case FTrace_EXT_snapshot:
    return !is_running_snapshot(record);
  case FTrace_EVT_task_activate:
    return record.par2 & FTRACE_WAKEUP_NEW;
  default:
    return false;
  }
}

} // namespace

bool is_scheduling(uint8_t code) {
  return kScheduling[code];
}

bool is_running_snapshot(const ftrace_record &record) {
  return (record.par2 & FTRACE_SNAPSHOT_STATE_MASK) == uint32_t(ThreadState::Running);
}

void CutPlanner::start_file() {
  files_.emplace_back();
  forget_cpu();
  in_chunk_ = false;
  last_code_ = 0;
}

void CutPlanner::start_chunk(uint64_t offset, uint64_t place) {
  std::vector<Run> &runs = files_.back().runs;
  if (runs.empty() || offset - runs.back().offset >= kRunBytes)
    runs.push_back({.offset = runs.empty() ? 0 : offset, .place = runs.empty() ? 0 : place});
}

void CutPlanner::record(const ftrace_record &record, uint8_t code, uint64_t first, uint64_t time) {
  check_chunk(record, code);
  const CodeKind kind = kCodeKinds[code];
  if (kind == CodeKind::control || kind == CodeKind::empty)
    return;
  File &file = files_.back();
  if (file.runs.empty() || kind == CodeKind::unknown || first < file.last)
    return give_up();
  file.last = time;
  run().first = std::min(run().first, first);
  run().last = std::max(run().last, time);
  if (time >= from_)
    return;
  if (is_user_event(code)) // its thread is known only from a switch that might be left out
    return give_up();
  if (!kScheduling[code])
    run().needed = true;
  else if (kind != CodeKind::plain_event)
    mark(record.par1, is_fresh(record, code));
  if (is_several_events(kind))
    mark(SwitchParts::of(record).next, false);
}

void CutPlanner::join(CutPlanner &&later) {
  if (!later.wanted())
    give_up();
  const uint32_t before = uint32_t(files_.size());
  std::move(later.files_.begin(), later.files_.end(), std::back_inserter(files_));
  for (auto &[thread, seen] : later.threads_)
    for (Seen &there : seen) {
      there.file += before;
      threads_[thread].push_back(std::move(there));
    }
  at_start_.insert(at_start_.end(), later.at_start_.begin(), later.at_start_.end());
}

void CutPlanner::finish_files() {
  for (const ThreadKey &thread : at_start_)
    if (since(thread) == 0)
      give_up();
}

/// Gives up at a chunk that lacks something or relies on the clock rate of the one before.
void CutPlanner::check_chunk(const ftrace_record &record, uint8_t code) {
  records_++;
  if (code == FTrace_EXT_format) {
    if (in_chunk_ || last_code_ != FTrace_EVT_cycles_per_msec)
      give_up();
    in_chunk_ = true;
    records_ = 2;
    declared_records_ = 0;
  } else if (code == FTrace_EVT_numevents) {
    declared_records_ = record.par2;
  } else if (code == FTrace_EVT_next_chunk || code == FTrace_EVT_trace_stop) {
    if (in_chunk_ && declared_records_ && declared_records_ != records_)
      give_up();
    in_chunk_ = false;
  }
  last_code_ = code;
}

void CutPlanner::takes_cpu(const ThreadKey &thread, uint64_t time) {
  if (time < from_ && on_cpu_.tid && !(on_cpu_ == thread))
    give_up();
  on_cpu_ = thread;
}

void CutPlanner::leaves_cpu(const ThreadKey &thread) {
  if (on_cpu_ == thread)
    forget_cpu();
}

void CutPlanner::mark(uint16_t context, bool left) {
  if (marks_.size() <= context)
    marks_.resize(std::max<size_t>(size_t(context) + 1, marks_.size() * 2));
  marks_[context].any = true;
  marks_[context].left |= left;
}

void CutPlanner::end_context(uint16_t context, const ThreadKey &thread) {
  if (context >= marks_.size() || !marks_[context].any)
    return;
  const Mark mark = std::exchange(marks_[context], {});
  const uint32_t file = uint32_t(files_.size() - 1);
  std::vector<Seen> &seen = threads_[thread];
  if (seen.empty() || seen.back().file != file)
    seen.push_back({.file = file, .runs = {}});
  Seen &here = seen.back();
  if (mark.left) {
    here.left = true;
    here.runs.clear();
  }
  const uint32_t last = uint32_t(files_.back().runs.size() - 1);
  if (here.runs.empty() || here.runs.back() != last)
    here.runs.push_back(last);
}

/// Returns the start of the latest run in which the thread left a CPU, 0 if it never did.
uint64_t CutPlanner::since(const std::vector<Seen> &seen) const {
  uint64_t since = 0;
  for (const Seen &here : seen)
    if (here.left)
      since = std::max(since, files_[here.file].runs[here.runs.front()].first);
  return since;
}

uint64_t CutPlanner::since(const ThreadKey &thread) const {
  const auto found = threads_.find(thread);
  return found == threads_.end() ? 0 : since(found->second);
}

void CutPlanner::set_parts(const std::vector<ChunkInput *> &files) const {
  std::vector<std::vector<bool>> needed;
  for (const File &file : files_) {
    std::vector<bool> &of = needed.emplace_back();
    for (const Run &run : file.runs)
      of.push_back(run.needed || run.last >= from_);
    if (!of.empty())
      of.back() = true; // nothing of it may matter, but how the file ends does
  }
  for (const auto &[key, seen] : threads_) {
    const uint64_t start = since(seen);
    for (const Seen &here : seen)
      for (const uint32_t run : here.runs)
        if (files_[here.file].runs[run].last >= start)
          needed[here.file][run] = true;
  }
  for (size_t f = 0; f < files_.size(); f++) {
    const std::vector<Run> &runs = files_[f].runs;
    for (size_t r = 0; r < runs.size(); r++) {
      if (!needed[f][r])
        continue;
      const uint64_t end = r + 1 < runs.size() ? runs[r + 1].offset : UINT64_MAX;
      std::vector<FilePart> &parts = files[f]->parts;
      if (!parts.empty() && parts.back().end == runs[r].offset)
        parts.back().end = end;
      else
        parts.push_back({runs[r].offset, end, runs[r].place});
    }
  }
}

} // namespace ovnitrace
