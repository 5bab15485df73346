// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/why/explainer.h"

#include "emulator/format/found_state.h"
#include "emulator/input/call_name.h"
#include "emulator/slices/slicer.h"
#include "emulator/why/wait_kind.h"

#include <ovnitrace/control.h>
#include <ovnitrace/ftrace_codes.h>

#include <algorithm>
#include <utility>

namespace ovnitrace {

namespace {

bool is_seen(ThreadState state) {
  return state != ThreadState::Unknown && state != ThreadState::Dead;
}

} // namespace

Explainer::Explainer(const Catalog &catalog, const Cut &cut, std::vector<uint32_t> programs,
                     const Stacks *stacks)
    : catalog_(catalog), all_{.range = range_of(cut, catalog), .shown = kept_threads(cut, catalog)},
      from_(all_.range.from), holders_(catalog, from_, all_.shown, *this),
      times_(catalog.threads.size()), spins_(catalog), says_allowed_(catalog.threads.size()),
      block_ends_(catalog, stacks), locks_(catalog.threads.size(), from_),
      preempted_(catalog.threads.size()), priorities_(catalog, all_.shown),
      shares_(catalog.threads.size(), all_.range), open_(catalog.threads.size()),
      unknown_(catalog.threads.size()), gate_(catalog, std::move(programs)),
      last_wait_(catalog.threads.size()), hit_(catalog, all_.range, all_.shown) {
  all_.threads.resize(catalog.threads.size());
  all_.hit_time = hit_.time();
}

void Explainer::on_event(const Event &event, const System &system) {
  now_ = {};
  gate_.event(event);
  if (event.kind == FTrace_EVT_task_end)
    add_allowed(event.thread);
  idle_.on_event(event, system);
  block_ends_.event(event);
  locks_.event(event);
  priorities_.event(event, system);
  switch (event.kind) {
  case FTrace_EVT_task_epilogue:
  case FTrace_EVT_task_sleep:
    now_.next = Culprit::of(event.next());
    now_.leaves = event.thread;
    now_.reason = event.reason();
    return;
  case FTrace_EXT_snapshot:
  case FTrace_EXT_state:
    now_.leaves = event.thread;
    if (const uint8_t reason = found_reason(event))
      now_.reason = reason;
    return;
  case FTrace_EVT_task_activate:
    if (event.held_back()) {
      now_.leaves = event.thread;
      now_.reason = event.held_back();
    }
    return;
  case FTrace_EXT_region:
    now_.hides = UnknownWhy::no_region;
    return start_region(event);
  case FTrace_EXT_refill:
    return refill(event.thread, system.threads()[event.thread], event.time);
  case FTrace_EXT_holder:
    if (event.cpu != kNone)
      holders_.hold(system.find_cpu(system.cpus()[event.cpu].host, event.par1),
                    Culprit::of(event.named()), event.time);
    return;
  case FTrace_EXT_exec:
    return holders_.rename(event.cpu, event.thread, event.time);
  case FTrace_EVT_blackout_start:
  case FTrace_EVT_blackout_end:
    now_.hides = event.par1 == FTRACE_BLACKOUT_FORGOTTEN ? UnknownWhy::forgotten
                 : event.par1 == FTRACE_BLACKOUT_MISSING ? UnknownWhy::missing
                 : event.par1 == FTRACE_BLACKOUT_PAUSED  ? UnknownWhy::paused
                 : event.par1 == FTRACE_BLACKOUT_OUTSIDE ? UnknownWhy::outside
                                                         : UnknownWhy::lost;
    if (hides_states(event))
      holders_.set_dark(event.cpu, event.kind == FTrace_EVT_blackout_start, event.time);
    return;
  }
}

/// Starts the first region: nothing of the process was recorded before.
void Explainer::start_region(const Event &event) {
  if (event.thread == kNone || !FTRACE_REGION_STARTS(event.par2))
    return;
  const ThreadInfo &starter = catalog_.threads[event.thread];
  holders_.forget_unwaited(starter.host, event.time);
  for (size_t t = 0; t < unknown_.size(); t++)
    if (const ThreadInfo &thread = catalog_.threads[t]; unknown_[t] == UnknownWhy::not_seen_yet &&
                                                        thread.pid == starter.pid &&
                                                        thread.host == starter.host)
      unknown_[t] = UnknownWhy::no_region;
}

/// Notes that a throttled thread waits from now on for a CPU that others hold.
void Explainer::refill(uint32_t thread, const Thread &now, uint64_t time) {
  WaitKind &kind = open_[thread].kind;
  if (now.state != ThreadState::Cooling || !is_throttled(kind))
    return;
  kind = WaitKind::refill;
  holders_.change(thread, {now.state, now.state, now.cpu, now.cpu}, time, Culprit(), kind);
}

/// Returns the kind of a wait. REQUIRES: `spins_` has taken the change that started it.
WaitKind Explainer::kind_of(uint32_t thread, ThreadState state, uint8_t reason) const {
  const WaitKind kind = wait_kind(state, reason);
  return kind == WaitKind::yield && spins_.has_spun(thread) ? WaitKind::spin : kind;
}

void Explainer::on_change(uint32_t thread, const StateChange &change, uint64_t time) {
  const bool leaves = thread == now_.leaves;
  const uint8_t reason = leaves ? now_.reason : kNotKnown;
  spins_.change(thread, change, time, reason == FTRACE_OFFCPU_YIELDED);
  WaitKind &kind = open_[thread].kind;
  if (change.from != change.to) // or else it is put on another CPU
    kind = kind_of(thread, change.to, reason);
  holders_.change(thread, change, time, leaves ? now_.next : Culprit(), kind);
  if (change.to == ThreadState::Warming && gate_.is_before(thread))
    holders_.stop_waiting(thread, time); // nobody is to blame for what ovnitrace caused
  preempted_.change(thread, change, time,
                    change.to == ThreadState::Cooling && kind == WaitKind::preemption);
  if (change.from == change.to)
    return;
  if (all_.shown[thread])
    shares_.change(thread, change, time);
  if (all_.shown[thread] && is_seen(change.from) != is_seen(change.to)) {
    if (is_seen(change.from) && --seen_ == 0)
      add_recorded(time);
    else if (is_seen(change.to) && seen_++ == 0)
      seen_since_ = time;
  }
  if (change.to == ThreadState::Unknown)
    unknown_[thread] = now_.hides;
  if (block_ends_.change(thread, change))
    locks_.wake(thread, block_ends_.of(thread).waker);
}

void Explainer::held(uint32_t thread, uint32_t cpu, WaitKind kind, const HolderSums &sums) {
  times_.add(thread, kind, sums);
  open_[thread].add(cpu, sums);
  for (const HolderSum &sum : sums.all()) {
    const Culprit holder = holders_.holder(sum.holder);
    priorities_.held(thread, kind, sum.holder, holder, holders_.host_of(sum.holder), sum.ns);
    if (kind == WaitKind::preemption && holder.kind() == Culprit::Kind::thread)
      preempted_.held(thread, holder.number(), sum.ns, priorities_.is_real_time(holder.number()));
  }
}

void Explainer::on_slice(const Slice &whole) {
  if (!all_.shown[whole.thread])
    return;
  const bool at_gate = gate_.is_closed(whole);
  if (is_blocked(whole.state) && !at_gate) { // before the range, too: the wait can reach into it
    block_ends_.end_block(whole);
    locks_.block(whole.thread, whole.stack);
  }
  if (whole.end < from_ || (whole.end == from_ && whole.start < from_))
    return;
  Slice slice = whole;
  slice.start = std::max(whole.start, from_);
  slice.starts &= whole.start >= from_;
  ThreadTime &time = all_.threads[slice.thread];
  if (at_gate) {
    if (is_blocked(slice.state)) {
      time.gate += slice.length();
    } else {
      time.start_waits += slice.length();
      last_wait_[slice.thread] = {WaitKind::wakeup, IdleTimes()};
    }
    return;
  }
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
    if (unknown_[slice.thread] == UnknownWhy::no_region) {
      time.outside += slice.length();
      break;
    }
    time.unknown += slice.length();
    all_.unknown[size_t(unknown_[slice.thread])] += slice.length();
    break;
  case ThreadState::Dead:
    break;
  }
}

void Explainer::on_cpu(const CpuSpan &span) {
  if (span.what == CpuSpan::What::dark && span.end > from_)
    all_.dark += span.end - std::max(span.start, from_);
}

void Explainer::end_wait(const Slice &slice, const IdleElsewhere &found) {
  holders_.settle(slice.thread, slice.end); // at the end of the range it goes on
  OpenWait &open = open_[slice.thread];
  const WaitKind kind = kind_of(slice.thread, slice.state, slice.reason);
  const bool over = slice.then == ThreadState::Running || is_throttled(kind);
  const bool whole = slice.starts && slice.ends && over;
  const BlockEnds::End &woken = block_ends_.of(slice.thread);
  const Culprit by =
      kind == WaitKind::wakeup
          ? woken.waker
          : Culprit::of(slice.next)
                .named_at(catalog_, catalog_.threads[slice.thread].host, slice.start);
  if (whole)
    all_.wait_lengths[size_t(kind)].add(slice.length());
  if (whole && wants_cpu(kind))
    tail_.add(slice.length(), open);
  if (slice.is_woken() && !gate_.is_before(slice.thread)) {
    WakeSum &wakes = wakes_.of({.thread = slice.thread, .waker = woken.waker});
    wakes.count++;
    if (whole && kind == WaitKind::wakeup) {
      wakes.measured++;
      wakes.late += slice.length();
      wakes.late_max = std::max(wakes.late_max, slice.length());
    }
  }
  if (kind == WaitKind::spin)
    all_.threads[slice.thread].spinning += slice.length();
  const IdleElsewhere idle = kind == WaitKind::spin ? IdleElsewhere() : found; // no CPU was wanted
  if (idle.known) {
    all_.threads[slice.thread].idle_known += slice.length();
    all_.threads[slice.thread].idle_elsewhere += idle.ns;
    all_.threads[slice.thread].idle_forbidden += idle.forbidden_ns;
    all_.threads[slice.thread].idle.add(idle.causes);
  }
  last_wait_[slice.thread] = {kind, idle.causes};
  const bool is_long = longest_waits_.wants(slice.length());
  const bool is_idle = idle_waits_.wants(idle.causes.total());
  const bool is_hit = hit_.takes(slice, false);
  if (is_long || is_idle || is_hit) {
    LongWait wait = {.thread = slice.thread,
                     .start = slice.start,
                     .end = slice.end,
                     .kind = kind,
                     .block = woken.block,
                     .stack = woken.stack,
                     .by = by,
                     .idle = idle,
                     .starts = slice.starts,
                     .ends = slice.ends};
    open.describe(wait, holders_);
    if (is_long)
      longest_waits_.add(wait);
    if (is_idle)
      idle_waits_.add(wait);
    if (const Slice *before = is_hit ? hit_.throttled_before(slice) : nullptr) {
      wait.throttled = before->length();
      wait.throttled_kind = wait_kind(before->state, before->reason);
      wait.start = before->start;
      wait.starts = before->starts;
    }
    if (is_hit)
      all_.hit = {wait};
  }
  open.clear();
}

void Explainer::end_block(const Slice &slice) {
  const auto &[waker, block, stack, context] = block_ends_.of(slice.thread);
  BlockSum &sum =
      blocks_.of({.thread = slice.thread, .block = block, .stack = stack, .waker = waker});
  sum.ns += slice.length();
  if (slice.starts && slice.ends) {
    sum.count++;
    block_lengths_[block].add(slice.length());
    if (waker.kind() == Culprit::Kind::thread &&
        call_name(catalog_, slice.thread, slice.call) == "futex")
      preempted_.block(slice, waker.number(), priorities_.is_real_time(slice.thread));
  }
  const bool is_hit = hit_.takes(slice, true);
  if (!is_hit && !longest_blocks_.wants(slice.length()))
    return;
  const LongWait long_block = {.thread = slice.thread,
                               .start = slice.start,
                               .end = slice.end,
                               .block = block,
                               .stack = stack,
                               .by = waker,
                               .starts = slice.starts,
                               .ends = slice.ends};
  if (longest_blocks_.wants(slice.length()))
    longest_blocks_.add(long_block);
  if (is_hit) {
    all_.hit = {long_block};
    all_.hit_is_block = true;
  }
}

void Explainer::add_waits() {
  const std::vector<CpuHolders::Total> totals = holders_.totals();
  for (uint32_t holder = 0; holder < totals.size(); holder++)
    for (size_t kind = 0; kind < kWaitKinds; kind++)
      if (const CpuHolders::Total &total = totals[holder]; total.ns[kind])
        all_.held.push_back(
            {total.waiter, WaitKind(kind), holders_.holder(holder), total.ns[kind]});
  const auto sort = [](auto begin, auto end) {
    std::sort(begin, end, [](const WaitSum &a, const WaitSum &b) {
      return std::tuple(!a.holder.is_known(), b.ns, a.kind, a.holder.code()) <
             std::tuple(!b.holder.is_known(), a.ns, b.kind, b.holder.code());
    });
  };
  sort(all_.held.begin(), all_.held.end());
  for (uint32_t thread = 0; thread < catalog_.threads.size(); thread++) {
    const ptrdiff_t start = ptrdiff_t(all_.waits.size());
    for (const WaitTimes::Sum &sum : times_.take(thread))
      all_.waits.push_back({thread, sum.kind, holders_.holder(sum.holder), sum.ns});
    sort(all_.waits.begin() + start, all_.waits.end());
  }
}

/// Adds the CPUs that a thread may use, when it ends or the range does.
void Explainer::add_allowed(uint32_t thread) {
  if (thread != kNone && all_.shown[thread])
    says_allowed_[thread] |= idle_.add_allowed(thread, allowed_);
}

/// Adds the time up to `until`, in which at least one thread was seen.
void Explainer::add_recorded(uint64_t until) {
  const uint64_t start = std::max(seen_since_, from_), end = std::min(until, all_.range.to);
  all_.recorded += end > start ? end - start : 0;
}

Explanation Explainer::finish() {
  if (seen_)
    add_recorded(all_.range.to);
  if (std::none_of(all_.threads.begin(), all_.threads.end(),
                   [](const ThreadTime &time) { return time.outside > 0; }))
    all_.recorded = all_.range.to - all_.range.from;
  const std::vector<uint64_t> shares = shares_.finish();
  for (size_t t = 0; t < shares.size(); t++)
    all_.threads[t].latency_share = shares[t];
  all_.covered = shares_.covered();
  bool says_allowed = true;
  for (uint32_t t = 0; t < all_.threads.size(); t++)
    if (all_.threads[t].running) {
      add_allowed(t);
      says_allowed &= says_allowed_[t] != 0;
    }
  if (says_allowed)
    all_.allowed_cpus = size_t(std::ranges::count(allowed_, 1));
  add_waits();
  holders_.end_turns(all_.range.to);
  all_.blocks = blocks_.take();
  std::sort(all_.blocks.begin(), all_.blocks.end(), [](const BlockSum &a, const BlockSum &b) {
    return std::tuple(a.thread, b.ns, a.key()) < std::tuple(b.thread, a.ns, b.key());
  });
  all_.wakes = wakes_.take();
  std::sort(all_.wakes.begin(), all_.wakes.end(), [](const WakeSum &a, const WakeSum &b) {
    return std::tuple(b.count, a.key()) < std::tuple(a.count, b.key());
  });
  for (auto &[block, lengths] : block_lengths_)
    all_.block_lengths.emplace_back(block, std::move(lengths));
  all_.locks = locks_.take();
  std::erase_if(all_.locks, [&](const LockSum &sum) { return !all_.shown[sum.thread]; });
  all_.preempted_wakers = preempted_.sum();
  all_.priorities = priorities_.take();
  all_.longest_waits = longest_waits_.take();
  all_.longest_blocks = longest_blocks_.take();
  all_.idle_waits = idle_waits_.take();
  all_.tail = tail_.take(holders_);
  return std::move(all_);
}

Explanation explain(EventSource &source, const Cut &cut, std::vector<uint32_t> programs,
                    const Stacks *stacks) {
  check_cut(cut, source.catalog());
  Explainer explainer(source.catalog(), cut, std::move(programs), stacks);
  Cut whole;
  whole.to = cut.to;
  replay_slices(source, whole, explainer);
  return explainer.finish();
}

} // namespace ovnitrace
