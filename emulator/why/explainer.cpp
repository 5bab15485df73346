// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/why/explainer.h"

#include "emulator/input/call_name.h"
#include "emulator/slices/slicer.h"

#include <ovnitrace/ftrace_codes.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace ovnitrace {

namespace {

constexpr uint64_t pair(uint32_t thread, Who who) {
  return uint64_t(thread) << 32 | who.code();
}

/// Whether a packet may end a system call of this name. A softirq of another kind is served on
/// whichever CPU, so who ran there says nothing.
bool waits_for_packets(std::string_view call) {
  constexpr std::array<std::string_view, 11> starts = {"epoll_",  "poll",  "ppoll",  "select",
                                                       "pselect", "recv",  "read",   "accept",
                                                       "send",    "write", "connect"};
  return call.empty() || std::any_of(starts.begin(), starts.end(), [&](std::string_view start) {
           return call.starts_with(start);
         });
}

constexpr uint32_t packed(Block block) {
  return uint32_t(block.call) << 8 | block.reason;
}
constexpr Block unpacked(uint32_t block) {
  return {uint16_t(block >> 8), uint8_t(block)};
}

WaitKind wait_kind(ThreadState state, uint8_t reason) {
  if (state == ThreadState::Warming)
    return WaitKind::wakeup;
  switch (reason) {
  case FTRACE_OFFCPU_PREEMPTED:
    return WaitKind::preemption;
  case FTRACE_OFFCPU_YIELDED:
    return WaitKind::yield;
  case FTRACE_OFFCPU_THROTTLED:
    return WaitKind::throttling;
  default:
    return WaitKind::not_known;
  }
}

/// Most first; of equal ones the order is that of `key`.
template <class Sum, class Value, class Key>
void sort_by(std::vector<Sum> &sums, Value value, Key key) {
  std::sort(sums.begin(), sums.end(), [&](const Sum &a, const Sum &b) {
    return value(a) != value(b) ? value(a) > value(b) : key(a) < key(b);
  });
}

} // namespace

size_t Explainer::HashBlock::operator()(const BlockKey &key) const {
  constexpr uint64_t odd = 0x9e3779b97f4a7c15; // 2^64 / the golden ratio
  uint64_t hash = key.thread;
  for (const uint32_t part : {key.block, key.stack, key.waker})
    hash = (hash ^ (hash >> 29) ^ part) * odd;
  return size_t(hash ^ (hash >> 32));
}

Explainer::Explainer(const Catalog &catalog, const Cut &cut)
    : catalog_(catalog), all_{.range = range_of(cut, catalog), .shown = kept_threads(cut, catalog)},
      from_(all_.range.from), holders_(catalog, *this), served_(catalog.cpus.size()),
      locks_(catalog.threads.size(), from_), open_(catalog.threads.size()),
      woken_(catalog.threads.size()) {
  all_.threads.resize(catalog.threads.size());
}

/// Only in task context the waker did it; otherwise an interrupt did while it ran.
Who Explainer::waker_of(const Event &event) const {
  const InterruptSource source = source_of(served_.innermost(event.cpu));
  switch (event.par2 >> FTRACE_REASON_SHIFT) {
  case FTRACE_WAKER_TASK:
    return Who::of({event.par2 & FTRACE_TID_MASK, event.peer});
  case FTRACE_WAKER_SOFTIRQ:
    if (source != InterruptSource::timer && event.peer != kNone)
      return Who(Who::Kind::softirq, event.peer);
    return Who(Who::Kind::interrupt, uint32_t(source));
  case FTRACE_WAKER_HARDIRQ:
  case FTRACE_WAKER_NMI:
    return Who(Who::Kind::interrupt, uint32_t(source));
  default:
    return Who();
  }
}

void Explainer::on_event(const Event &event, const System &system) {
  now_ = {};
  idle_.on_event(event, system);
  served_.event(event);
  locks_.event(event);
  switch (event.kind) {
  case FTrace_EVT_task_epilogue:
  case FTrace_EVT_task_sleep:
    now_.next = Who::of({event.par2 & FTRACE_TID_MASK, event.peer});
    now_.leaves = event.thread;
    now_.reason = uint8_t(event.par2 >> FTRACE_REASON_SHIFT);
    return;
  case FTrace_EXT_snapshot:
    now_.leaves = event.thread;
    if (event.par2 >> FTRACE_REASON_SHIFT)
      now_.reason = uint8_t(event.par2 >> FTRACE_REASON_SHIFT);
    return;
  case FTrace_EVT_task_activate:
    now_.wakes_up = event.thread;
    now_.waker = waker_of(event);
    return;
  case FTrace_EVT_blackout_start:
  case FTrace_EVT_blackout_end:
    if (hides_states(event))
      holders_.set_dark(event.cpu, event.kind == FTrace_EVT_blackout_start, event.time);
    return;
  }
}

void Explainer::on_change(uint32_t thread, const StateChange &change, uint64_t time) {
  const bool leaves = thread == now_.leaves;
  holders_.change(thread, change, time, leaves ? now_.next : Who());
  if (change.from == change.to)
    return;
  open_[thread].kind = wait_kind(change.to, leaves ? now_.reason : kNotKnown);
  if (change.to == ThreadState::Warming || change.to == ThreadState::Paused)
    woken_[thread] = {.waker = thread == now_.wakes_up ? now_.waker : Who(), .block = {}};
  if (change.to == ThreadState::Warming)
    locks_.wake(thread, woken_[thread].waker);
}

/// Of a wait that began before the birth of its thread, as of a slice, the rest.
void Explainer::held(uint32_t thread, Who holder, uint64_t start, uint64_t end) {
  start = std::max({start, from_, catalog_.threads[thread].birth});
  if (!all_.shown[thread] || start >= end)
    return;
  OpenWait &open = open_[thread];
  waits_[pair(thread, holder)][size_t(open.kind)] += end - start;
  for (Story::Part &part : open.holders)
    if (part.who == holder) {
      part.ns += end - start;
      return;
    }
  open.more |= open.holders.size() == Story::kMostParts;
  if (!open.more)
    open.holders.push_back({holder, end - start});
}

void Explainer::on_slice(const Slice &whole) {
  if (!all_.shown[whole.thread] || whole.end < from_ || (whole.end == from_ && whole.start < from_))
    return;
  Slice slice = whole;
  slice.start = std::max(whole.start, from_);
  slice.starts &= whole.start >= from_;
  ThreadTime &time = all_.threads[slice.thread];
  switch (slice.state) {
  case ThreadState::Running:
    time.running += slice.length();
    break;
  case ThreadState::Warming:
  case ThreadState::Cooling:
    time.waiting += slice.length();
    end_wait(slice, whole.start == slice.start ? idle_.of(whole) : IdleElsewhere());
    break;
  case ThreadState::Paused:
    time.blocked += slice.length();
    end_block(slice);
    break;
  case ThreadState::Unknown:
    time.unknown += slice.length();
    break;
  case ThreadState::Dead:
    break;
  }
}

void Explainer::end_wait(const Slice &slice, const IdleElsewhere &idle) {
  holders_.settle(slice.thread, slice.end); // at the end of the range it goes on
  OpenWait &open = open_[slice.thread];
  const WaitKind kind = wait_kind(slice.state, slice.reason);
  const bool whole = slice.starts && slice.ends && slice.then == ThreadState::Running;
  const Woken &woken = woken_[slice.thread];
  const Who by = kind == WaitKind::wakeup ? woken.waker : Who::of(slice.next);
  if (whole)
    all_.wait_lengths[size_t(kind)].add(slice.length());
  if (slice.starts && kind == WaitKind::wakeup) {
    Wakes &wakes = wakes_[pair(slice.thread, by)];
    wakes.count++;
    if (whole) {
      wakes.late += slice.length();
      wakes.late_max = std::max(wakes.late_max, slice.length());
    }
  }
  if (idle.known) {
    all_.threads[slice.thread].idle_known += slice.length();
    all_.threads[slice.thread].idle_elsewhere += idle.ns;
    all_.threads[slice.thread].idle_forbidden += idle.forbidden_ns;
  }
  if (longest_waits_.wants(slice.length()))
    longest_waits_.add({.thread = slice.thread,
                        .start = slice.start,
                        .end = slice.end,
                        .cpu = slice.cpu,
                        .kind = kind,
                        .block = woken.block,
                        .stack = woken.stack,
                        .by = by,
                        .holders = open.holders,
                        .idle = idle,
                        .more_holders = open.more,
                        .starts = slice.starts,
                        .ends = slice.ends});
  open.holders.clear();
  open.more = false;
}

void Explainer::end_block(const Slice &slice) {
  const Block block{slice.call, slice.reason};
  Woken &woken = woken_[slice.thread];
  woken.block = block;
  woken.stack = slice.stack;
  if (!slice.ends)
    woken.waker = Who(slice.then == ThreadState::Paused ? Who::Kind::nobody : Who::Kind::not_known);
  else if (woken.waker == Who(Who::Kind::interrupt, uint32_t(InterruptSource::other)) &&
           is_sleep(call_name(catalog_, slice.thread, slice.call)))
    woken.waker = Who(Who::Kind::interrupt, uint32_t(InterruptSource::timer));
  else if (woken.waker.kind() == Who::Kind::softirq &&
           !waits_for_packets(call_name(catalog_, slice.thread, slice.call)))
    woken.waker = Who(Who::Kind::interrupt, uint32_t(InterruptSource::other));
  const Who waker = woken.waker;
  Time &time = blocks_[{slice.thread, packed(block), slice.stack, waker.code()}];
  time.ns += slice.length();
  time.count++;
  if (slice.starts && slice.ends)
    block_lengths_[block].add(slice.length());
  if (longest_blocks_.wants(slice.length()))
    longest_blocks_.add({.thread = slice.thread,
                         .start = slice.start,
                         .end = slice.end,
                         .block = block,
                         .stack = slice.stack,
                         .by = waker,
                         .starts = slice.starts,
                         .ends = slice.ends});
}

Explanation Explainer::finish() {
  for (const auto &[key, by_kind] : waits_)
    for (size_t kind = 0; kind < kWaitKinds; kind++)
      if (by_kind[kind])
        all_.waits.push_back(
            {uint32_t(key >> 32), WaitKind(kind), Who::from_code(uint32_t(key)), by_kind[kind]});
  sort_by(
      all_.waits, [](const WaitSum &sum) { return sum.ns; },
      [](const WaitSum &sum) { return std::tuple(sum.thread, sum.kind, sum.holder.code()); });
  for (const auto &[key, time] : blocks_)
    all_.blocks.push_back({key.thread, unpacked(key.block), key.stack, Who::from_code(key.waker),
                           time.ns, time.count});
  sort_by(
      all_.blocks, [](const BlockSum &sum) { return sum.ns; },
      [](const BlockSum &sum) {
        return std::tuple(sum.thread, packed(sum.block), sum.stack, sum.waker.code());
      });
  for (const auto &[key, wakes] : wakes_)
    all_.wakes.push_back({uint32_t(key >> 32), Who::from_code(uint32_t(key)), wakes.count,
                          wakes.late, wakes.late_max});
  sort_by(
      all_.wakes, [](const WakeSum &sum) { return sum.count; },
      [](const WakeSum &sum) { return std::tuple(sum.thread, sum.waker.code()); });
  for (auto &[block, lengths] : block_lengths_)
    all_.block_lengths.emplace_back(block, std::move(lengths));
  all_.locks = locks_.sums();
  std::erase_if(all_.locks, [&](const LockSum &sum) { return !all_.shown[sum.thread]; });
  all_.longest_waits = longest_waits_.take();
  all_.longest_blocks = longest_blocks_.take();
  return std::move(all_);
}

Explanation explain(EventSource &source, const Cut &cut) {
  check_cut(cut, source.catalog());
  Explainer explainer(source.catalog(), cut);
  Cut whole;
  whole.to = cut.to;
  replay_slices(source, whole, explainer);
  return explainer.finish();
}

} // namespace ovnitrace
