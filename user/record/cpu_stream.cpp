// SPDX-License-Identifier: BSD-2-Clause
#include "user/record/cpu_stream.h"

#include <algorithm>
#include <array>
#include <bit>

namespace ovnitrace {

namespace {

/// The most events of families, and the most life events and blackouts, that wait for an unreadable
/// staging area. It cannot be read if a batch of it was lost and no later one came. Beyond these
/// limits they are written, and what was staged gets their time.
constexpr size_t kMostFamiliesWaiting = 1 << 20, kMostWaiting = 1 << 16;

bool is_before(const SchedTransition &a, const SchedTransition &b) {
  return a.time < b.time;
}

} // namespace

CpuCount recorded_of(const cpu_stage &stage, const volatile family_count *families,
                     const CpuCount &late) {
  CpuCount count;
  count.events = stage.events + stage.count - late.events;
  count.lost = stage.lost_total - late.lost;
  if (families) {
    count.family_events = families->events - late.family_events;
    count.family_lost = families->lost - late.family_lost;
  }
  return count;
}

bool CpuStream::drain() {
  return !ring_ || ring_->drain(until_, [&](const void *message, size_t bytes) {
    if (bytes == sizeof(sched_batch))
      take_batch(*static_cast<const sched_batch *>(message), CAPTURE_BATCH);
    else if (bytes == sizeof(family_record))
      take_family(*static_cast<const family_record *>(message));
  });
}

void CpuStream::settle(const volatile cpu_stage &stage, uint64_t settled) {
  if (stage_.look(stage, [&](const sched_record &record) {
        take_transition(transition_of(record, now_));
      })) {
    write_until(settled);
    settled_ = std::max(settled_, settled);
    writer_.settle(settled_);
  } else if (families_.size() > kMostFamiliesWaiting || waiting_.size() > kMostWaiting) {
    write_until(UINT64_MAX);
  }
}

void CpuStream::take_stage(const cpu_stage &stage) {
  take_batch(stage.batch, stage.count);
  write_until(UINT64_MAX);
}

void CpuStream::take_family(const family_record &record) {
  if (record.time > end_) {
    late_.family_events++;
    return;
  }
  families_.push(record);
  first_ = std::min<uint64_t>(first_, record.time);
}

void CpuStream::take_batch(const sched_batch &batch, uint32_t count) {
  uint32_t taken = stage_.next_batch(batch);
  if (batch.lost) {
    take_loss(batch, count, taken);
    taken = 0;
  }
  std::array<SchedTransition, CAPTURE_BATCH> records;
  for (uint32_t n = taken; n < count; n++)
    records[n] = transition_of(batch.records[n], now_);
  const auto begin = records.begin() + taken, end = records.begin() + count;
  if (!std::is_sorted(begin, end, is_before))
    std::stable_sort(begin, end, is_before);
  for (auto it = begin; it != end; ++it)
    take_transition(*it);
  // A busy CPU fills a batch between any two reads, and its staging area is never settled.
  if (begin != end && count == CAPTURE_BATCH)
    settled_ = std::max(settled_, (end - 1)->time);
}

/// Writes the blackout before a batch. It lasts to the first transition that is known again, which
/// is the first of the batch, or to the end of the capture. `rescued`: how many of the lost
/// transitions were read in the staging area.
void CpuStream::take_loss(const sched_batch &batch, uint32_t count, uint32_t rescued) {
  const uint64_t since = time_of(batch.lost_since, now_);
  uint64_t end = end_;
  if (since > end) {
    late_.events += batch.lost;
    late_.lost += batch.lost;
    return;
  }
  late_.lost += rescued;
  write_until(since);
  const bool was_paused = paused_;
  if (!was_paused)
    start_blackout(since, FTRACE_BLACKOUT_TRANSITIONS);
  if (count)
    end = std::clamp(time_of(batch.records[0].when, now_), since, end);
  write_until(end);
  if (paused_)
    return; // the pause hides as much
  if (was_paused)
    start_blackout(since, FTRACE_BLACKOUT_TRANSITIONS);
  end_blackout(end, batch.lost - rescued, FTRACE_BLACKOUT_TRANSITIONS);
}

void CpuStream::take_transition(const SchedTransition &record) {
  if (record.time > end_) {
    late_.events++;
    return;
  }
  SchedTransition in_order = record;
  in_order.time = std::max(record.time, writer_.last_time());
  if (first_ <= in_order.time)
    write_until(in_order.time);
  if (paused_)
    late_.events++;
  else
    writer_.transition(in_order);
}

/// Writes what has waited for a time up to `time`.
void CpuStream::write_until(uint64_t time) {
  while (first_ <= time && first_ != UINT64_MAX) {
    bool rare = !waiting_.empty() && waiting_.front().time == first_;
    if (rare) {
      write(waiting_.front());
      waiting_.pop_front();
    } else if (paused_) {
      families_.pop();
      late_.family_events++;
    } else {
      writer_.family(families_.pop());
    }
    find_first();
  }
}

void CpuStream::write(const Waiting &waiting) {
  if (paused_ && waiting.kind != Waiting::kResume && waiting.kind != Waiting::kRegionStop &&
      waiting.kind != Waiting::kMark &&
      !(waiting.kind == Waiting::kBlackoutEnd && waiting.what == FTRACE_BLACKOUT_FAMILIES))
    return;
  switch (waiting.kind) {
  case Waiting::kMark:
    return writer_.mark(waiting.time, uint16_t(waiting.lost));
  case Waiting::kPause:
    paused_ = true;
    return writer_.blackout_start(waiting.time, waiting.what);
  case Waiting::kResume:
    paused_ = false;
    dark_ = 0; // what ended meanwhile was not written
    return writer_.blackout_end(waiting.time, 0, waiting.what);
  case Waiting::kLife:
    return writer_.life(waiting.life);
  case Waiting::kBlackoutStart:
    return start_blackout(waiting.time, waiting.what);
  case Waiting::kBlackoutEnd:
    return end_blackout(waiting.time, waiting.lost, waiting.what);
  case Waiting::kRegionStop:
    return writer_.forget_running();
  }
}

void CpuStream::start_blackout(uint64_t time, ftrace_blackout what) {
  writer_.blackout_start(time, what);
  if (what != FTRACE_BLACKOUT_FAMILIES)
    dark_ |= 1u << what;
}

/// Ends a blackout. For readers, the first end ends all blackouts of a CPU that hide states, so
/// another blackout that still lasts is started again.
void CpuStream::end_blackout(uint64_t time, uint64_t lost, ftrace_blackout what) {
  writer_.blackout_end(time, lost, what);
  if (what == FTRACE_BLACKOUT_FAMILIES)
    return;
  dark_ &= ~(1u << what);
  if (dark_)
    writer_.blackout_start(time, ftrace_blackout(std::countr_zero(dark_)));
}

void CpuStream::find_first() {
  first_ = waiting_.empty() ? UINT64_MAX : waiting_.front().time;
  if (!families_.empty())
    first_ = std::min(first_, families_.first_time());
}

void CpuStream::add_blackout(uint64_t start, uint64_t end, uint64_t lost, ftrace_blackout what) {
  uint64_t last = end_;
  if (what == FTRACE_BLACKOUT_FAMILIES && start > last) {
    late_.family_events += lost;
    late_.family_lost += lost;
    return;
  }
  add({Waiting::kBlackoutStart, start, 0, what, {}});
  add({Waiting::kBlackoutEnd, std::min(end, last), lost, what, {}});
}

void CpuStream::add(const Waiting &waiting) {
  auto later =
      std::upper_bound(waiting_.begin(), waiting_.end(), waiting.time,
                       [](uint64_t time, const Waiting &other) { return time < other.time; });
  waiting_.insert(later, waiting);
  first_ = std::min(first_, waiting.time);
}

} // namespace ovnitrace
