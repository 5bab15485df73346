// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/critical/walk.h"

#include "emulator/input/read_watcher.h"

#include <ovnitrace/ftrace_codes.h>

#include <algorithm>

namespace ovnitrace {

namespace {

constexpr uint64_t kShownSlices = 1 << 16; ///< after so many, progress is shown

/// Returns what an interrupt stands for.
Cause cause_of(uint16_t interrupt, bool timer) {
  if (interrupt == kNoInterrupt && timer)
    return Cause::timer;
  switch (source_of(interrupt)) {
  case InterruptSource::timer:
    return Cause::timer;
  case InterruptSource::network:
    return Cause::network;
  case InterruptSource::device:
    return Cause::io;
  case InterruptSource::other:
    break;
  }
  return Cause::interrupt;
}

/// Returns what ended a block, if no thread on the path did.
Cause cause_of(const HistoryRecord &block) {
  if (!block.woken)
    return Cause::blocked;
  if (block.device != kNone)
    return Cause::io;
  switch (block.context) {
  case FTRACE_WAKER_TASK:
    return block.waker.thread == kNone && block.waker.tid != kNone ? Cause::outside
                                                                   : Cause::blocked;
  case FTRACE_WAKER_SOFTIRQ:
  case FTRACE_WAKER_HARDIRQ:
  case FTRACE_WAKER_NMI:
    return cause_of(block.interrupt, block.timer);
  default:
    return Cause::blocked;
  }
}

bool goes_on(const PathSegment &later, const PathSegment &earlier) {
  return later.from == earlier.to && later.thread == earlier.thread &&
         later.cause == earlier.cause && later.preempted == earlier.preempted &&
         later.call == earlier.call && later.device == earlier.device &&
         later.interrupt == earlier.interrupt && later.peer.tid == earlier.peer.tid &&
         later.peer.thread == earlier.peer.thread;
}

} // namespace

Walk::Walk(DiskList<HistoryRecord> &history, const Catalog &catalog,
           DiskList<PathSegment> &segments, size_t number, size_t walks)
    : group_(catalog), history_(history), left_(history.count()), at_(catalog.threads.size()),
      segments_(segments), number_(double(number)), walks_(double(walks)) {}

/// Reads the next slice, going back.
void Walk::take() {
  const HistoryRecord &slice = history_.at(--left_);
  if (left_ % kShownSlices == 0)
    show_progress();
  const bool nobody = slice.thread == kNone;
  if (slice.moved) {
    at_[slice.thread].cpu = slice.cpu;
    at_[slice.thread].on_cpu_since = slice.on_cpu_since;
    return;
  }
  if (!nobody)
    take_slice(slice);
  if (slice.cpu == kNone || (!nobody && slice.state != ThreadState::Running))
    return;
  if (slice.cpu >= held_.size())
    held_.resize(slice.cpu + 1);
  held_[slice.cpu] = {nobody ? slice.next : Peer{.thread = slice.thread}, slice.start};
}

/// Takes a slice of a thread. It is part of a spin if the slice after it is, and if the spin did
/// not start later.
void Walk::take_slice(const HistoryRecord &slice) {
  HistoryRecord &at = at_[slice.thread];
  const bool within = at.thread != kNone && at.spins && at.since <= slice.start;
  const uint64_t since = within ? at.since : slice.since;
  at = slice;
  at.spins |= within;
  at.since = since;
}

void Walk::show_progress() const {
  const double left = double(left_) / double(history_.count());
  if (ReadWatcher::current)
    ReadWatcher::current->walks((number_ + 1 - left) / walks_);
}

void Walk::take_back_to(uint64_t time) {
  while (left_ && history_.at(left_ - 1).end >= time)
    take();
}

void Walk::from(const PathRoot &root) {
  now_ = end_ = root.to;
  push(root.thread, root.from);
  while (!stack_.empty()) {
    if (now_ > stack_.back().floor) {
      step();
      continue;
    }
    stack_.pop_back();
  }
  if (last_.thread != kNone)
    segments_.append(last_);
}

/// Goes back through the slice of the topmost thread, or to the thread that ended it.
void Walk::step() {
  take_back_to(now_);
  const HistoryRecord slice = at_[stack_.back().thread];
  if (slice.thread == kNone || slice.start >= now_)
    return step_unborn(slice);
  if (slice.spins)
    return step_spinning(slice);
  switch (slice.state) {
  case ThreadState::Running:
    return put(slice.start, {.cause = Cause::running});
  case ThreadState::Cooling:
  case ThreadState::Warming:
    return step_waiting(slice);
  case ThreadState::Paused:
  case ThreadState::Unknown:
    return step_blocked(slice);
  case ThreadState::Dead:
    if (slice.waker.thread != kNone)
      return push(slice.waker.thread, std::max(slice.start, stack_.back().floor));
    return put(slice.start, {.cause = Cause::ended});
  }
}

/// Goes back over a wait for a CPU. The thread waits where it was woken or preempted, or where it
/// was moved to. The thread that runs there holds its CPU.
void Walk::step_waiting(const HistoryRecord &wait) {
  if (wait.state == ThreadState::Cooling && ftrace_offcpu_is_throttled(wait.reason))
    return put(wait.start, {.cause = Cause::throttled});
  const uint64_t start = std::max(wait.start, wait.on_cpu_since);
  // Its end is at or after now_, like that of every slice that was read.
  const Held held = wait.cpu < held_.size() ? held_[wait.cpu] : Held();
  PathSegment what = {.cause = Cause::waiting};
  what.preempted = wait.state == ThreadState::Cooling && wait.reason == FTRACE_OFFCPU_PREEMPTED;
  if (held.start >= now_)
    return put(start, what);
  what.peer = held.peer;
  put(std::max(start, held.start), what);
}

/// Goes back over a spin: the thread waits for another one without blocking, and the trace does not
/// say for which. If only one thread of its group neither spins nor is blocked, that one is
/// responsible.
void Walk::step_spinning(const HistoryRecord &spin) {
  const uint32_t other = group_.only_other(spin.thread, [&](uint32_t thread) {
    const HistoryRecord &slice = at_[thread];
    return slice.thread != kNone && slice.start < now_ && !slice.spins &&
           (slice.state == ThreadState::Running || slice.state == ThreadState::Cooling ||
            slice.state == ThreadState::Warming);
  });
  if (other == kNone)
    return put(spin.start, {.cause = Cause::spins});
  push(other, std::max({stack_.back().floor, spin.since, at_[other].start}));
}

/// Goes back over a wakeup by a kernel worker. The time since the work item was queued belongs to
/// the thread that queued it. The worker's earlier work has nothing to do with it.
void Walk::step_worker(const HistoryRecord &block) {
  const uint64_t floor = std::max(block.start, stack_.back().floor);
  const PathSegment ended = {.cause = Cause::worker, .peer = block.waker};
  if (!block.since)
    return step_unowned(block, floor);
  const uint64_t queued = std::clamp(block.since, floor, now_);
  const Peer queuer = block.next;
  if (queuer.thread != kNone && queuer.thread != block.thread) {
    push(queuer.thread, floor);
    return put(queued < now_ ? queued : floor, ended);
  }
  put(queuer.thread == block.thread ? floor : queued, ended);
  if (now_ > floor && queuer.tid == 0)
    put(floor, {.cause = Cause::interrupt, .call = block.call});
  else if (now_ > floor)
    put(floor, {.cause = Cause::outside, .call = block.call, .peer = queuer});
}

/// Goes back over a wakeup by a kernel worker if the trace does not say who queued the item. The
/// worker is then responsible for the run in which it made the wakeup.
void Walk::step_unowned(const HistoryRecord &block, uint64_t floor) {
  const uint32_t worker = block.waker.thread;
  const bool ran = worker != kNone && at_[worker].thread != kNone && now_ == block.end &&
                   at_[worker].state == ThreadState::Running && at_[worker].start < now_;
  if (ran)
    return push(worker, std::max(floor, at_[worker].start));
  put(floor, {.cause = Cause::unowned, .call = block.call, .peer = block.waker});
}

void Walk::step_blocked(const HistoryRecord &block) {
  if (block.worker)
    return step_worker(block);
  const bool blocked = is_blocked(block.state);
  // A path is never within it: it starts at the end of what is seen, or where a thread runs.
  if (block.woken && follow(block, blocked ? block.start : 0))
    return;
  PathSegment what = {.cause = Cause::unknown};
  if (blocked) {
    what.cause = !block.woken && block.end >= end_ ? Cause::not_woken : cause_of(block);
    what.call = block.call;
    if (block.woken)
      what.interrupt = block.interrupt;
    if (what.cause == Cause::io)
      what.device = block.device;
    if (what.cause == Cause::outside)
      what.peer = block.waker;
  }
  put(block.start, what);
}

/// Goes on with the creator of the thread, which is responsible for the time before the thread
/// existed.
void Walk::step_unborn(const HistoryRecord &first) {
  if (first.thread != kNone && is_waiting(first.state) && first.start == now_ && follow(first, 0))
    return;
  put(0, {.cause = Cause::unknown});
}

/// Continues the path with the waker. If the waker left its CPU before the wakeup, the time in
/// between is a wait: the wakeup was on its way to the woken thread's CPU. Returns false if no
/// thread made the wakeup, or if the waker did not run during the block.
bool Walk::follow(const HistoryRecord &woken, uint64_t floor) {
  const uint32_t waker = woken.waker.thread;
  if (woken.context != FTRACE_WAKER_TASK || waker == kNone)
    return false;
  floor = std::max(floor, stack_.back().floor);
  const auto ran = [&] {
    const HistoryRecord &slice = at_[waker];
    return slice.thread != kNone && slice.state == ThreadState::Running && slice.start < now_;
  };
  while (!ran() && left_ && history_.at(left_ - 1).end > floor)
    take();
  if (!ran())
    return false;
  if (at_[waker].end < now_)
    put(at_[waker].end, {.cause = Cause::waiting});
  push(waker, floor);
  return true;
}

void Walk::push(uint32_t thread, uint64_t floor) {
  stack_.push_back({thread, floor});
}

/// Adds a segment: the topmost thread is responsible from `from` on, but not before its floor.
void Walk::put(uint64_t from, PathSegment what) {
  what.thread = stack_.back().thread;
  what.from = std::max(from, stack_.back().floor);
  what.to = now_;
  now_ = what.from;
  if (goes_on(last_, what)) {
    last_.from = what.from;
    return;
  }
  if (last_.thread != kNone)
    segments_.append(last_);
  last_ = what;
}

} // namespace ovnitrace
